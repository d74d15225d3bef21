#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// What combines the initial value with the only element of each result, if it is one op.
const Op* combining_op(const Graph& graph, const Op& op) {
  if (op.definition->name != "stablehlo.reduce" || op.operands.size() != 2) return nullptr;
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
    const auto shaped = [&](const char* name, ValueId operand, Attributes attributes) {
      attributes.emplace("result_shape", type.shape);
      attributes.emplace("result_dtype", std::string(name_of(type.dtype)));
      return rewrite.append({.definition = find_op(name),
                             .operands = {rewrite.of(operand)},
                             .results = {},
                             .attributes = std::move(attributes),
                             .regions = {},
                             .location = op.location});
    };
    const ValueId element = shaped("stablehlo.reshape", op.operands[0], {});
    const ValueId initial = shaped("stablehlo.broadcast_in_dim", op.operands[1],
                                   {{"broadcast_dimensions", std::vector<std::int64_t>{}}});
    Op combined = *combining;
    for (ValueId& operand : combined.operands) {
      operand = operand == op.regions[0].arguments()[0] ? initial : element;
    }
    combined.results = {};
    combined.attributes.insert_or_assign("result_shape", type.shape);
    combined.location = op.location;
    rewrite.add(op, std::move(combined));
  }
  return rewrite.finish();
}

}  // namespace superstep
