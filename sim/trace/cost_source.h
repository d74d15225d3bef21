#pragma once

#include <cstdint>
#include <string_view>

#include "isa/machine_config.h"

namespace superstep {

/// Where a number comes from, or cycles that follow from numbers: then the least certain of those.
enum class CostSource : std::uint8_t {
  kMeasured,
  kPublished,
  kDerived,
  kAssumed,       ///< also what nobody says the source of
  kExtrapolated,  ///< a law outside of the range it was fitted on
  kUser,
};
inline constexpr std::string_view kCostSources[] = {"measured", "published",    "derived",
                                                    "assumed",  "extrapolated", "user"};

/// Whether cycles of that source rest on a guess.
[[nodiscard]] constexpr bool is_assumed(CostSource source) {
  return source == CostSource::kAssumed || source == CostSource::kExtrapolated;
}

/// That of one number of a machine, by its key; numbers of a list have that of the list.
[[nodiscard]] CostSource cost_source(const MachineSources& sources, std::string_view key);

/// Those of the cycles of a run's parts. Compute is by the numbers that all code follows, not by
/// the slots of functions such as `costs.f32div`: nothing here knows which of them ran.
struct PartSources {
  CostSource exchange, compute, internal_sync, external_sync, host, callbacks;
};
[[nodiscard]] PartSources part_sources(const MachineConfig& machine, const MachineSources& sources);

}  // namespace superstep
