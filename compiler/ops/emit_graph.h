#pragma once

#include <span>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/vertex/expression.h"

namespace superstep {

/// What an elementwise op computes of its operands, which are inputs in its order.
[[nodiscard]] vertex::Expression expression_of(const Op& op, const Graph& graph);

/// Appends a graph of elementwise ops and constants over scalars (the region of a reduce) to an
/// expression, and returns its results.
[[nodiscard]] std::vector<vertex::Node> emit_graph(const Graph& scalars,
                                                   vertex::Expression& expression,
                                                   std::span<const vertex::Node> arguments);

}  // namespace superstep
