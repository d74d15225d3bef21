#include <algorithm>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {

Graph remove_unused_ops(Graph graph) {
  std::vector<bool> used(graph.values().size());
  for (const ValueId result : graph.results()) used[index(result)] = true;
  const auto is_used = [&](const Op& op) {
    return has_effect(op) ||
           std::ranges::any_of(op.results, [&](ValueId result) { return used[index(result)]; });
  };
  for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
    if (!is_used(*op)) continue;
    for (const ValueId operand : op->operands) used[index(operand)] = true;
  }
  if (std::ranges::all_of(graph.ops(), is_used)) return graph;
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    if (is_used(op)) rewrite.add(op, rewrite.translated(op));
  }
  return rewrite.finish();
}

}  // namespace superstep
