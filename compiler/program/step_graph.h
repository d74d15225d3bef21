#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/dependence.h"
#include "compiler/program/program.h"
#include "isa/program_image.h"

namespace superstep {

/// A step: the exchange of a superstep, or one of its compute sets.
struct StepVertex {
  enum class Kind : std::uint8_t { kExchange, kCompute };
  Kind kind = Kind::kCompute;
  std::uint32_t superstep = 0;  ///< in order of execution
  std::string name;
  std::string operation;
  std::size_t tiles = 0;  ///< that send or receive, or launch
};
/// A directed acyclic graph: edges go from earlier steps to later ones.
using StepGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, StepVertex,
                                        DependenceEdge>;

/// The steps of a program in their order, and what depends on what through the buffers; edges that
/// follow from others may be there.
[[nodiscard]] StepGraph step_graph(const LoweredProgram& program);

/// A step graph as it is drawn, which outlives its program.
struct StepDrawing {
  StepGraph graph;
  std::vector<std::string> buffers;  ///< names, by number

  explicit StepDrawing(const LoweredProgram& program);

  /// In the language of GraphViz: a box for each exchange, an ellipse for each compute set, with
  /// tiles and, where `steps` of the compiled program are those of the graph, predicted cycles.
  /// Edges bear the buffers' names, and are dashed where storage is used again.
  [[nodiscard]] std::string graphviz(const std::string& name,
                                     std::span<const StepInfo> steps = {}) const;
};

}  // namespace superstep
