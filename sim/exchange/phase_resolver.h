#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sim/exchange/phase.h"

namespace superstep {

struct UnresolvedPhase;

/// Follows the words of phases through muxes and pointers, as intervals of cycles.
class PhaseResolver {
 public:
  /// `machine` outlives the resolver; an empty law is the machine's.
  PhaseResolver(const MachineConfig& machine, LatencyLaw law);
  ~PhaseResolver();

  /// Resolves a phase whose cycles count from `begin`; the earliest fault, of the lowest
  /// tile, when it cannot happen. Allocates only for more events than in the phases before.
  [[nodiscard]] std::optional<FabricFault> resolve(std::span<const FabricPort> ports,
                                                   std::uint64_t begin, ResolvedPhase& resolved);

 private:
  std::unique_ptr<UnresolvedPhase> phase_;
};

}  // namespace superstep
