#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/exchange/phase.h"

namespace superstep {

/// Resolved phases by their port events relative to the first of them. The least recently used go
/// when they would take more than `most_bytes`.
class PhaseCache {
 public:
  explicit PhaseCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The phase that these ports began before, their first event now being at cycle `begin`, or
  /// null.
  [[nodiscard]] const ResolvedPhase* find(std::span<const FabricPort> ports, std::uint64_t begin);

  /// Keeps what `find` just did not find. `phase` becomes another one, whose content means nothing:
  /// its buffers are used again.
  void keep(std::span<const FabricPort> ports, std::uint64_t begin,
            std::unique_ptr<ResolvedPhase>& phase);

  [[nodiscard]] std::size_t size() const { return phases_.size(); }

 private:
  /// A phase and its key.
  struct Kept {
    std::uint64_t hash = 0;
    std::uint64_t last_use = 0;
    std::size_t bytes = 0;
    std::vector<TileId> tiles;            ///< by port
    std::vector<PortEvent> events;        ///< by port, in cycles from the first
    std::vector<std::size_t> events_end;  ///< by port: past the last of its events
    std::unique_ptr<ResolvedPhase> phase;
  };

  [[nodiscard]] static std::uint64_t hash_of(std::span<const FabricPort> ports,
                                             std::uint64_t begin);
  [[nodiscard]] static bool matches(const Kept& kept, std::span<const FabricPort> ports,
                                    std::uint64_t begin);
  static void copy_events(std::span<const FabricPort> ports, std::uint64_t begin, Kept& kept);

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t hash_ = 0;  ///< of what `find` looked for last
  std::vector<std::unique_ptr<Kept>> phases_;
  std::unique_ptr<Kept> spare_;  ///< with buffers to fill
};

}  // namespace superstep
