#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// Constants, each known by the number of the first that is equal.
class ConstantNumbers {
 public:
  std::size_t of(const SharedTensor& constant) {
    const HostTensor& value = constant.get();
    const std::string_view bytes(reinterpret_cast<const char*>(value.data.data()),
                                 value.data.size());
    const auto [begin, end] = numbers_.equal_range(bytes);
    for (auto known = begin; known != end; ++known) {
      if (kept_[known->second].get().type == value.type) return known->second;
    }
    // The bytes stay where they are, as this copy holds them.
    numbers_.emplace(bytes, kept_.size());
    kept_.push_back(constant);
    return kept_.size() - 1;
  }

 private:
  std::unordered_multimap<std::string_view, std::size_t> numbers_;
  std::vector<SharedTensor> kept_;
};

struct KeyWriter {
  std::string& key;
  ConstantNumbers& constants;

  void operator()(bool value) const { key += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { key += std::to_string(value); }
  void operator()(double value) const {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& value) const {
    key += std::to_string(value.size()) + ':' + value;
  }
  void operator()(const SharedTensor& value) const {
    key += '#' + std::to_string(constants.of(value));
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

void append_op(const Op& op, ConstantNumbers& constants, std::string& key);

void append_graph(const Graph& graph, ConstantNumbers& constants, std::string& key) {
  key += '{';
  for (const ValueId argument : graph.arguments()) key += graph.type(argument).text();
  for (const Op& op : graph.ops()) append_op(op, constants, key);
  for (const ValueId result : graph.results()) key += '>' + std::to_string(index(result));
  key += '}';
}

/// Text that is equal for ops that compute the same from the same values.
void append_op(const Op& op, ConstantNumbers& constants, std::string& key) {
  key += op.definition->name;
  for (const ValueId operand : op.operands) key += ' ' + std::to_string(index(operand));
  for (const auto& [name, value] : op.attributes) {
    key += ' ' + name + '=';
    std::visit(KeyWriter{key, constants}, value);
  }
  for (const TensorType& type : op.declared) key += ':' + type.text();
  for (const Graph& region : op.regions) append_graph(region, constants, key);
}

}  // namespace

Graph merge_equal_ops(Graph graph) {
  bool has_changed = false;
  Rewrite rewrite(graph);
  ConstantNumbers constants;
  std::map<std::string, std::vector<ValueId>> results_of;
  for (const Op& op : graph.ops()) {
    Op copy = rewrite.translated(op);
    std::string key;
    append_op(copy, constants, key);
    const auto known = results_of.find(key);
    if (known == results_of.end() || has_effect(op) || op.definition->traits.is_opaque) {
      results_of.emplace(std::move(key), rewrite.add(op, std::move(copy)).results);
      continue;
    }
    has_changed = true;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      rewrite.replace(op.results[i], known->second[i]);
    }
  }
  if (!has_changed) return graph;
  return rewrite.finish();
}

}  // namespace superstep
