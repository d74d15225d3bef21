#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/tile_program.h"

namespace superstep {

/// Cycles of compute sets, by superstep and number of the set in it.
using ComputeCycles = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

/// Predicts the cycles of the launches of each compute set, with those beside them, on the tile
/// where they take longest. Exact for a tile where no data decides; see vertex/timing_analysis.h.
[[nodiscard]] ComputeCycles predict_compute(const std::vector<TileProgram>& tiles,
                                            const CodeletLibrary& library,
                                            const MachineConfig& machine);

}  // namespace superstep
