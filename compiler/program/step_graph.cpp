#include "compiler/program/step_graph.h"

#include <boost/graph/graphviz.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <vector>

#include "compiler/program/blocks.h"

namespace superstep {
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
      for (const Movement& movement : execution.superstep->movements) {
        reads.insert(execution.actual(movement.source.buffer));
        for (const Movement::End& end : movement.destinations) {
          writes.insert(execution.actual(end.buffer));
        }
      }
      steps.add({StepVertex::Kind::kExchange, e, origins.exchange.name, origins.exchange.operation},
                reads, writes);
    }
    for (std::size_t c = 0; c < execution.superstep->computes.size(); ++c) {
      const ComputeSet& set = execution.superstep->computes[c];
      const Origin& origin = origins.computes[c];
      steps.add({StepVertex::Kind::kCompute, e, origin.name, origin.operation}, actual(set.reads),
                actual(set.writes));
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
