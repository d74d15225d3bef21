#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <string>

#include "compiler/program/dependence.h"
#include "compiler/program/program.h"

namespace superstep {

/// A step: the exchange of a superstep, or one of its compute sets.
struct StepVertex {
  enum class Kind : std::uint8_t { kExchange, kCompute };
  Kind kind = Kind::kCompute;
  std::uint32_t superstep = 0;  ///< in order of execution
  std::string name;
  std::string operation;
};
/// A directed acyclic graph: edges go from earlier steps to later ones.
using StepGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, StepVertex,
                                        DependenceEdge>;

/// The steps of a program in their order, and what depends on what through the buffers; edges that
/// follow from others may be there.
[[nodiscard]] StepGraph step_graph(const LoweredProgram& program);

/// `step_graph` in the language of GraphViz: a box for each exchange, an ellipse for each compute
/// set; edges bear the buffers' names, and are dashed where storage is used again.
[[nodiscard]] std::string graphviz(const LoweredProgram& program, const std::string& name);

}  // namespace superstep
