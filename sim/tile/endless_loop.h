#pragma once

#include <cstdint>

namespace superstep {

/// What runs for more cycles than this is taken for an endless loop: a worker since its launch, a
/// supervisor since its last sync or the exit of its last worker. 13 seconds at the clock of gc200.
inline constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 34;

}  // namespace superstep
