#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/steps.h"
#include "compiler/image/tile_program.h"
#include "compiler/program/blocks.h"

namespace superstep {

struct ComputeCycles {
  /// By superstep and number of the compute set in it: its launches, with those beside them, on the
  /// tile where they take longest.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> of_set;
  std::vector<std::vector<std::uint64_t>> by_tile;  ///< and superstep: all its launches
};

/// Predicts what computing takes. Exact for a tile where no data decides; see
/// vertex/timing_analysis.h.
[[nodiscard]] ComputeCycles predict_compute(const std::vector<TileProgram>& tiles,
                                            std::size_t supersteps, const CodeletLibrary& library,
                                            const MachineConfig& machine);

/// All launches of a call from one barrier to the next on the tile where they take longest, added
/// up over the barriers. `times` says how often each step is executed.
[[nodiscard]] std::uint64_t call_cycles(const ComputeCycles& cycles,
                                        std::span<const Execution> executions, const Steps& steps,
                                        std::span<const std::uint64_t> times);

}  // namespace superstep
