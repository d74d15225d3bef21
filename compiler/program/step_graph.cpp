#include "compiler/program/step_graph.h"

#include <fmt/format.h>

#include <boost/graph/graphviz.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <vector>

#include "compiler/program/blocks.h"

namespace superstep {
namespace {

std::size_t tiles_of(const ComputeSet& set) {
  std::set<TileId> tiles;
  for (const Launch& launch : set.launches) tiles.insert(launch.tile);
  return tiles.size();
}

/// The steps of a call that a graph has, the host's left out; none where copies that share code
/// have steps of their own.
std::vector<const StepInfo*> steps_of(const StepGraph& graph, std::span<const StepInfo> all) {
  std::vector<const StepInfo*> steps;
  for (const StepInfo& step : all) {
    if (step.kind != StepInfo::Kind::kHost && !step.is_control()) steps.push_back(&step);
  }
  if (steps.size() != num_vertices(graph)) steps.clear();
  return steps;
}

}  // namespace

StepGraph step_graph(const LoweredProgram& program) {
  StepGraph graph;
  DependenceBuilder<StepGraph> steps(graph, program.buffers.size());
  const std::vector<Execution> executions = executions_of(program);
  for (std::uint32_t e = 0; e < executions.size(); ++e) {
    const Execution& execution = executions[e];
    const SuperstepOrigins origins = execution.origins();
    const auto actual = [&](const std::vector<BufferId>& buffers) {
      std::set<BufferId> all;
      for (const BufferId buffer : buffers) all.insert(execution.actual(buffer));
      return all;
    };
    if (!execution.superstep->movements.empty()) {
      std::set<BufferId> reads, writes;
      std::set<TileId> tiles;
      for (const Movement& movement : execution.superstep->movements) {
        reads.insert(execution.actual(movement.source.buffer));
        tiles.insert(movement.source.tile);
        for (const Movement::End& end : movement.destinations) {
          writes.insert(execution.actual(end.buffer));
          tiles.insert(end.tile);
        }
      }
      steps.add({StepVertex::Kind::kExchange, e, origins.exchange.name, origins.exchange.operation,
                 tiles.size()},
                reads, writes);
    }
    for (std::size_t c = 0; c < execution.superstep->computes.size(); ++c) {
      const ComputeSet& set = execution.superstep->computes[c];
      const Origin& origin = origins.computes[c];
      steps.add({StepVertex::Kind::kCompute, e, origin.name, origin.operation, tiles_of(set)},
                actual(set.reads), actual(set.writes));
    }
  }
  return graph;
}

StepDrawing::StepDrawing(const LoweredProgram& program) : graph(step_graph(program)) {
  for (const Buffer& buffer : program.buffers) buffers.push_back(buffer.name);
}

std::string StepDrawing::graphviz(const std::string& name, std::span<const StepInfo> all) const {
  const std::vector<const StepInfo*> steps = steps_of(graph, all);
  std::ostringstream text;
  const auto vertex = [&](std::ostream& out, StepGraph::vertex_descriptor v) {
    const StepVertex& step = graph[v];
    const bool moves = step.kind == StepVertex::Kind::kExchange;
    std::string label = fmt::format("{} {}\\n{}\\n{} tiles", moves ? "exchange" : "compute",
                                    step.name, step.operation, step.tiles);
    if (!steps.empty()) label += fmt::format(", {} cycles", steps[v]->predicted_cycles);
    out << "[label=" << boost::escape_dot_string(label) << (moves ? ", shape=box]" : "]");
  };
  const auto edge = [&](std::ostream& out, StepGraph::edge_descriptor e) {
    const DependenceEdge& dependence = graph[e];
    out << "[label=" << boost::escape_dot_string(buffers[index(dependence.buffer)])
        << (dependence.is_flow ? "]" : ", style=dashed]");
  };
  const auto whole = [&](std::ostream& out) {
    out << "label=" << boost::escape_dot_string(name) << "\n";
  };
  boost::write_graphviz(text, graph, vertex, edge, whole);
  return text.str();
}

}  // namespace superstep
