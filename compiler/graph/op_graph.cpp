#include "compiler/graph/op_graph.h"

#include <boost/graph/graphviz.hpp>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"

namespace superstep {
namespace {

constexpr const char* kLineBreak = "\\n";  // of a label, as GraphViz spells it

}  // namespace

OpGraph op_graph(const Graph& graph) {
  OpGraph result;
  const auto add = [&](OpVertex named) {
    const auto vertex = add_vertex(result);
    result[vertex] = std::move(named);
    return vertex;
  };
  const std::size_t ops = graph.ops().size();
  std::vector<OpGraph::vertex_descriptor> maker(graph.values().size());
  for (const Op& op : graph.ops()) {
    const auto vertex = add({OpVertex::Kind::kOp, std::string(op.definition->name),
                             op.location.module.text(), op.results});
    for (const ValueId value : op.results) maker[index(value)] = vertex;
  }
  for (std::size_t a = 0; a < graph.arguments().size(); ++a) {
    maker[index(graph.arguments()[a])] =
        add({OpVertex::Kind::kArgument, "arg" + std::to_string(a), "", {graph.arguments()[a]}});
  }
  for (std::size_t op = 0; op < ops; ++op) {
    for (const ValueId value : graph.ops()[op].operands) {
      add_edge(maker[index(value)], op, {value}, result);
    }
  }
  for (std::size_t r = 0; r < graph.results().size(); ++r) {
    const ValueId value = graph.results()[r];
    const auto vertex = add({OpVertex::Kind::kResult, "result" + std::to_string(r), "", {value}});
    add_edge(maker[index(value)], vertex, {value}, result);
  }
  return result;
}

std::string graphviz(const Graph& graph, const std::string& name) {
  const OpGraph ops = op_graph(graph);
  std::ostringstream text;
  const auto vertex = [&](std::ostream& out, OpGraph::vertex_descriptor v) {
    const OpVertex& of = ops[v];
    const bool is_op = of.kind == OpVertex::Kind::kOp;
    std::string label = of.name;
    for (const ValueId value : of.values) {
      label += kLineBreak;
      if (is_op) label += std::to_string(index(value)) + ": ";
      label += graph.type(value).text();
    }
    out << "[label=" << boost::escape_dot_string(label);
    if (!of.location.empty()) out << ", tooltip=" << boost::escape_dot_string(of.location);
    out << (is_op ? ", shape=box]" : "]");
  };
  const auto edge = [&](std::ostream& out, OpGraph::edge_descriptor e) {
    out << "[label=" << boost::escape_dot_string(graph.type(ops[e].value).text()) << "]";
  };
  const auto whole = [&](std::ostream& out) {
    out << "label=" << boost::escape_dot_string(name) << "\n";
  };
  boost::write_graphviz(text, ops, vertex, edge, whole);
  return text.str();
}

}  // namespace superstep
