#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/instruction_counts.h"
#include "sim/trace/rows.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// What workers did in one codelet.
struct CodeletTotals {
  std::string name;
  std::optional<std::uint32_t> number;  ///< row of /program/vertex_type; none of unknown code
  std::uint64_t launches = 0, runs = 0, cycles = 0;
  std::uint64_t slots = 0;  ///< cycles of the busiest worker of a step on a tile, times all workers
  InstructionCounts instructions = {};
  VertexRow longest = {};                                                  ///< of its runs
  std::map<std::uint32_t, std::uint64_t> by_step = {}, by_operation = {};  ///< cycles
};
/// Of codelets that ran, in the order of /program/vertex_type, unknown code last; `workers`: of a
/// tile.
[[nodiscard]] std::vector<CodeletTotals> codelet_totals(const TraceFile& file,
                                                        std::uint64_t workers);

}  // namespace superstep
