#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/tasks.h"

namespace superstep {

/// Colours the tasks, edges of a bipartite graph of senders and (first) receivers, so that none of
/// one colour share a port: the graph is halved by Euler partition until no port has two edges.
/// There are fewer than twice as many colours as the busiest port has tasks. Equal tasks in the
/// order of their colours keep every port busy.
[[nodiscard]] std::vector<std::uint32_t> colour_edges(const Tasks& tasks);

}  // namespace superstep
