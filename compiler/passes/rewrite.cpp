#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/op.h"

namespace superstep {

Rewrite::Rewrite(const Graph& from) : from_(from), values_(from.values().size()) {
  for (const ValueId argument : from.arguments()) {
    const Value& value = from.value(argument);
    replace(argument, to_.add_argument(value.type, value.name));
  }
}

Op Rewrite::translated(const Op& op) const {
  Op copy = op;
  for (ValueId& operand : copy.operands) operand = of(operand);
  return copy;
}

const Op& Rewrite::add(const Op& old, Op replacement) {
  std::vector<std::string> names;
  for (const ValueId result : old.results) names.push_back(from_.value(result).name);
  const Op& added = to_.add_op(std::move(replacement), names);
  for (std::size_t i = 0; i < old.results.size(); ++i) replace(old.results[i], added.results[i]);
  return added;
}

Graph Rewrite::finish() {
  std::vector<ValueId> results;
  for (const ValueId result : from_.results()) results.push_back(of(result));
  to_.set_results(std::move(results));
  return std::move(to_);
}

bool has_effect(const Op& op) {
  return op.definition->traits.effect != Effect::kNone ||
         std::ranges::any_of(op.regions, [](const Graph& region) {
           return std::ranges::any_of(region.ops(), has_effect);
         });
}

Graph apply_with_regions(Graph graph, const std::function<Graph(Graph)>& pass) {
  const auto has_regions = [](const Op& op) { return !op.regions.empty(); };
  if (std::ranges::any_of(graph.ops(), has_regions)) {
    Rewrite rewrite(graph);
    for (const Op& op : graph.ops()) {
      Op copy = rewrite.translated(op);
      for (Graph& region : copy.regions) region = apply_with_regions(std::move(region), pass);
      rewrite.add(op, std::move(copy));
    }
    graph = rewrite.finish();
  }
  return pass(std::move(graph));
}

}  // namespace superstep
