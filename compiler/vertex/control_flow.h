#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {

/// Items that run one after the other. The body of a repeat is one block.
struct BasicBlock {
  std::size_t first = 0, last = 0;
};

/// The basic blocks of a codelet in the order of its items, and which may follow which.
using ControlFlow =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, BasicBlock>;
[[nodiscard]] ControlFlow control_flow(const std::vector<WorkerCode::Item>& items,
                                       std::uint32_t labels);

/// Natural loops around each block: one for each edge back to a block that dominates its source, so
/// that loops with a common head count as nested.
[[nodiscard]] std::vector<std::uint32_t> loop_depths(const ControlFlow& flow);

/// The virtual registers that hold values still to be read where each block begins and ends.
struct LiveRegisters {
  std::vector<bool> in, out;
};
[[nodiscard]] std::vector<LiveRegisters> live_registers(const ControlFlow& flow,
                                                        const std::vector<WorkerCode::Item>& items,
                                                        std::size_t registers);

}  // namespace superstep::vertex
