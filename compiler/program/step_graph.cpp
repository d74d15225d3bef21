#include "compiler/program/step_graph.h"

#include <boost/graph/graphviz.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <vector>

namespace superstep {
namespace {

/// Adds the edges of steps that come in order.
class DependenceBuilder {
 public:
  DependenceBuilder(StepGraph& graph, std::size_t buffers) : graph_(graph), uses_(buffers) {}

  void add(StepVertex step, const std::set<BufferId>& reads, const std::set<BufferId>& writes) {
    const Step now = add_vertex(std::move(step), graph_);
    for (const BufferId buffer : reads) {
      for (const Step writer : uses_[index(buffer)].writers) depend(writer, now, buffer, true);
    }
    for (const BufferId buffer : writes) {
      Uses& uses = uses_[index(buffer)];
      // Steps that write parts of a buffer one after the other stay in order.
      for (const Step writer : uses.writers) depend(writer, now, buffer, reads.contains(buffer));
      for (const Step reader : uses.readers) depend(reader, now, buffer, false);
      if (!uses.readers.empty()) uses.writers.clear();
      uses.readers.clear();
      uses.writers.push_back(now);
    }
    for (const BufferId buffer : reads) {
      if (!writes.contains(buffer)) uses_[index(buffer)].readers.push_back(now);
    }
  }

 private:
  using Step = StepGraph::vertex_descriptor;
  struct Uses {
    std::vector<Step> writers, readers;  ///< readers since the last write
  };
  void depend(Step from, Step to, BufferId buffer, bool is_flow) {
    if (from != to && !edge(from, to, graph_).second) add_edge(from, to, {buffer, is_flow}, graph_);
  }

  StepGraph& graph_;
  std::vector<Uses> uses_;  ///< by buffer
};

}  // namespace

StepGraph step_graph(const LoweredProgram& program) {
  StepGraph graph;
  DependenceBuilder steps(graph, program.buffers.size());
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
