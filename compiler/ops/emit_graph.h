#pragma once

#include <span>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/vertex/expression.h"

namespace superstep {

/// Appends a graph of elementwise ops and constants over scalars (the region of a reduce) to an
/// expression, and returns its results.
[[nodiscard]] std::vector<vertex::Node> emit_graph(const Graph& scalars,
                                                   vertex::Expression& expression,
                                                   std::span<const vertex::Node> arguments);

}  // namespace superstep
