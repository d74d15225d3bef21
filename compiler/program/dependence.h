#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstddef>
#include <set>
#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// Why a step follows another: it uses what that one writes, or writes what that one uses.
struct DependenceEdge {
  BufferId buffer{};
  bool is_flow = true;  ///< the later step reads what the earlier one writes
};

/// Steps by number, of which only the dependences matter.
struct NoProperty {};
using DependenceGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                              NoProperty, DependenceEdge>;

/// Adds steps in their order to a Boost graph whose edges are DependenceEdges, and what they depend
/// on through the buffers; edges that follow from others may be left out. Steps that write parts of
/// a buffer stay in order.
template <typename StepGraph>
class DependenceBuilder {
 public:
  using Step = typename StepGraph::vertex_descriptor;

  DependenceBuilder(StepGraph& graph, std::size_t buffers) : graph_(graph), uses_(buffers) {}

  Step add(typename StepGraph::vertex_property_type step, const std::set<BufferId>& reads,
           const std::set<BufferId>& writes) {
    const Step now = add_vertex(graph_);
    graph_[now] = std::move(step);
    for (const BufferId buffer : reads) {
      for (const Step writer : uses_[index(buffer)].writers) depend(writer, now, buffer, true);
    }
    for (const BufferId buffer : writes) {
      Uses& uses = uses_[index(buffer)];
      for (const Step writer : uses.writers) depend(writer, now, buffer, reads.contains(buffer));
      for (const Step reader : uses.readers) depend(reader, now, buffer, false);
      if (!uses.readers.empty()) uses.writers.clear();
      uses.readers.clear();
      uses.writers.push_back(now);
    }
    for (const BufferId buffer : reads) {
      if (!writes.contains(buffer)) uses_[index(buffer)].readers.push_back(now);
    }
    return now;
  }

 private:
  struct Uses {
    std::vector<Step> writers, readers;  ///< readers since the last write
  };
  void depend(Step from, Step to, BufferId buffer, bool is_flow) {
    if (!edge(from, to, graph_).second) add_edge(from, to, {buffer, is_flow}, graph_);
  }

  StepGraph& graph_;
  std::vector<Uses> uses_;  ///< by buffer
};

}  // namespace superstep
