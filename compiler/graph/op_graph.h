#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace superstep {

/// What makes or takes a value: an op, an argument, or the caller who takes a result.
struct OpVertex {
  enum class Kind : std::uint8_t { kArgument, kOp, kResult };
  Kind kind = Kind::kOp;
  std::string name;  ///< of the op's definition, `arg2`, `result0`
  std::string location;
  std::vector<ValueId> values;  ///< results of the op; what is made or taken
};
/// The use of a value.
struct UseEdge {
  ValueId value{};
};
using OpGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, OpVertex, UseEdge>;

/// The ops of a graph, in their order, then its arguments and its results; an edge from what makes
/// a value to each use of it. Regions are inside of their ops.
[[nodiscard]] OpGraph op_graph(const Graph& graph);

/// `op_graph` in the language of GraphViz: a box for each op, with its results under the numbers
/// that plans and reports name it by (`dot_general.3`), and their types; edges bear types too.
[[nodiscard]] std::string graphviz(const Graph& graph, const std::string& name);

}  // namespace superstep
