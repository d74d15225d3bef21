#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// What the operands of a product have to be for a matrix codelet; empty when they are right.
std::optional<DType> operand_dtype(const Graph& graph, const Op& op) {
  if (op.definition != &kDotGeneralOp) return std::nullopt;
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
    GraphBuilder builder = rewrite.builder(op);
    for (ValueId& operand : product.operands) {
      operand = convert(builder.value(operand), *dtype).id;
    }
    TensorType type = graph.type(op.results[0]);
    const bool counts = type.dtype == DType::kI1;
    // Sums of booleans count pairs of true; 32 bits hold any depth that fits a machine.
    if (counts) type.dtype = DType::kU32;
    product.declared = {type};
    if (!counts) {
      rewrite.add(op, std::move(product));
      continue;
    }
    std::vector<Tensor> operands;
    for (const ValueId operand : product.operands) operands.push_back(builder.value(operand));
    const Tensor sums = builder.append(kDotGeneralOp, operands, std::move(product)).front();
    rewrite.replace(op.results[0], convert(sums, DType::kI1).id);
  }
  return rewrite.finish();
}

}  // namespace superstep
