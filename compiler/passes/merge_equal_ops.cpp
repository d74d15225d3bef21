#include <map>
#include <string>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

struct KeyWriter {
  std::string& key;

  void operator()(bool value) const { key += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { key += std::to_string(value); }
  void operator()(double value) const {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& value) const {
    key += std::to_string(value.size()) + ':' + value;
  }
  void operator()(const HostTensor& value) const {
    key += value.type.text();
    key.append(reinterpret_cast<const char*>(value.data.data()), value.data.size());
  }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    key += '[';
    for (const T& value : values) {
      (*this)(value);
      key += ',';
    }
    key += ']';
  }
};

void append_op(const Op& op, std::string& key);

void append_graph(const Graph& graph, std::string& key) {
  key += '{';
  for (const ValueId argument : graph.arguments()) key += graph.type(argument).text();
  for (const Op& op : graph.ops()) append_op(op, key);
  for (const ValueId result : graph.results()) key += '>' + std::to_string(index(result));
  key += '}';
}

/// Text that is equal for ops that compute the same from the same values.
void append_op(const Op& op, std::string& key) {
  key += op.definition->name;
  for (const ValueId operand : op.operands) key += ' ' + std::to_string(index(operand));
  for (const auto& [name, value] : op.attributes) {
    key += ' ' + name + '=';
    std::visit(KeyWriter{key}, value);
  }
  for (const Graph& region : op.regions) append_graph(region, key);
}

}  // namespace

Graph merge_equal_ops(const Graph& graph) {
  Rewrite rewrite(graph);
  std::map<std::string, std::vector<ValueId>> results_of;
  for (const Op& op : graph.ops()) {
    Op copy = rewrite.translated(op);
    std::string key;
    append_op(copy, key);
    const auto known = results_of.find(key);
    if (known == results_of.end()) {
      results_of.emplace(std::move(key), rewrite.add(op, std::move(copy)).results);
      continue;
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      rewrite.replace(op.results[i], known->second[i]);
    }
  }
  return rewrite.finish();
}

}  // namespace superstep
