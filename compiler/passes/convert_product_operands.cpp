#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

Op conversion(const Graph& graph, ValueId operand, DType to, const OpLocation& at) {
  return {.definition = find_op("stablehlo.convert"),
          .operands = {operand},
          .results = {},
          .attributes = {{"result_dtype", std::string(name_of(to))},
                         {"result_shape", graph.type(operand).shape}},
          .regions = {},
          .location = at};
}

/// What the operands of a product have to be for a matrix codelet; empty when they are right.
std::optional<DType> operand_dtype(const Graph& graph, const Op& op) {
  if (op.definition->name != "stablehlo.dot_general") return std::nullopt;
  const DType left = graph.type(op.operands[0]).dtype, right = graph.type(op.operands[1]).dtype;
  const DType result = graph.type(op.results[0]).dtype;
  if (left == right && left != DType::kI1) return std::nullopt;
  if (is_float(left)) return DType::kF32;
  // Integer products wrap: they are right at the width of the result.
  if (result != DType::kI1) return result;
  return left == right ? std::optional(DType::kU8) : std::nullopt;
}

}  // namespace

Graph convert_product_operands(Graph graph) {
  const auto is_unlike = [&](const Op& op) { return operand_dtype(graph, op).has_value(); };
  if (std::ranges::none_of(graph.ops(), is_unlike)) return graph;
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    Op product = rewrite.translated(op);
    const std::optional<DType> dtype = operand_dtype(graph, op);
    if (!dtype) {
      rewrite.add(op, std::move(product));
      continue;
    }
    for (ValueId& operand : product.operands) {
      if (rewrite.graph().type(operand).dtype == *dtype) continue;
      operand = rewrite.append(conversion(rewrite.graph(), operand, *dtype, op.location));
    }
    if (graph.type(op.results[0]).dtype != DType::kI1) {
      rewrite.add(op, std::move(product));
      continue;
    }
    // Sums of booleans count pairs of true; 32 bits hold any depth that fits a machine.
    product.results = {};
    product.attributes.insert_or_assign("result_dtype", std::string(name_of(DType::kU32)));
    const ValueId counts = rewrite.append(std::move(product));
    rewrite.add(op, conversion(rewrite.graph(), counts, DType::kI1, op.location));
  }
  return rewrite.finish();
}

}  // namespace superstep
