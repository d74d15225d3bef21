#include <algorithm>
#include <utility>

#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// What combines the initial value with the only element of each result, if it is one op.
const Op* combining_op(const Graph& graph, const Op& op) {
  if (op.definition != &kReduceOp || op.operands.size() != 2) return nullptr;
  const std::int64_t results = graph.type(op.results[0]).elements();
  if (results == 0 || graph.type(op.operands[0]).elements() != results) return nullptr;
  const Graph& region = op.regions[0];
  if (region.ops().size() != 1 || region.results() != region.ops()[0].results) return nullptr;
  const Op& only = region.ops()[0];
  const bool takes_both = only.operands.size() == 2 && only.operands[0] != only.operands[1];
  return takes_both ? &only : nullptr;
}

}  // namespace

Graph unwrap_reductions(Graph graph) {
  const auto is_one = [&](const Op& op) { return combining_op(graph, op) != nullptr; };
  if (std::ranges::none_of(graph.ops(), is_one)) return graph;
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    const Op* combining = combining_op(graph, op);
    if (combining == nullptr) {
      rewrite.add(op, rewrite.translated(op));
      continue;
    }
    const TensorType& type = graph.type(op.results[0]);
    GraphBuilder builder = rewrite.builder(op);
    const auto operand = [&](std::size_t i) { return builder.value(rewrite.of(op.operands[i])); };
    const ValueId element = reshape(operand(0), type.shape).id;
    const ValueId initial = broadcast(operand(1), type.shape, {}).id;
    Op combined = *combining;
    for (ValueId& taken : combined.operands) {
      taken = taken == op.regions[0].arguments()[0] ? initial : element;
    }
    combined.declared = {type};
    combined.location = op.location;
    rewrite.add(op, std::move(combined));
  }
  return rewrite.finish();
}

}  // namespace superstep
