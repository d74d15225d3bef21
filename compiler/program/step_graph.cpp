#include "compiler/program/step_graph.h"

#include <boost/graph/graphviz.hpp>
#include <ostream>
#include <set>
#include <sstream>

namespace superstep {
StepGraph step_graph(const LoweredProgram& program) {
  StepGraph graph;
  DependenceBuilder<StepGraph> steps(graph, program.buffers.size());
  for (std::uint32_t s = 0; s < program.supersteps.size(); ++s) {
    const Superstep& superstep = program.supersteps[s];
    if (!superstep.movements.empty()) {
      std::set<BufferId> reads, writes;
      for (const Movement& movement : superstep.movements) {
        reads.insert(movement.source.buffer);
        for (const Movement::End& end : movement.destinations) writes.insert(end.buffer);
      }
      steps.add({StepVertex::Kind::kExchange, s, superstep.names[0], superstep.operation}, reads,
                writes);
    }
    for (const ComputeSet& set : superstep.computes) {
      steps.add({StepVertex::Kind::kCompute, s, set.name, set.operation},
                {set.reads.begin(), set.reads.end()}, {set.writes.begin(), set.writes.end()});
    }
  }
  return graph;
}

std::string graphviz(const LoweredProgram& program, const std::string& name) {
  const StepGraph graph = step_graph(program);
  std::ostringstream text;
  const auto vertex = [&](std::ostream& out, StepGraph::vertex_descriptor v) {
    const StepVertex& step = graph[v];
    out << "[label=" << boost::escape_dot_string(step.name)
        << ", tooltip=" << boost::escape_dot_string(step.operation);
    out << (step.kind == StepVertex::Kind::kExchange ? ", shape=box]" : "]");
  };
  const auto edge = [&](std::ostream& out, StepGraph::edge_descriptor e) {
    const DependenceEdge& dependence = graph[e];
    out << "[label=" << boost::escape_dot_string(program.buffers[index(dependence.buffer)].name);
    out << (dependence.is_flow ? "]" : ", style=dashed]");
  };
  const auto whole = [&](std::ostream& out) {
    out << "label=" << boost::escape_dot_string(name) << "\n";
  };
  boost::write_graphviz(text, graph, vertex, edge, whole);
  return text.str();
}

}  // namespace superstep
