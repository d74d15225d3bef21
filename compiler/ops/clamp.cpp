#include <fmt/format.h>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& operand = operands[1];
  for (const TensorType* bound : {&operands[0], &operands[2]}) {
    if (bound->dtype != operand.dtype || (!bound->shape.empty() && bound->shape != operand.shape)) {
      malformed(op, fmt::format("the bound {} does not fit the operand {}", bound->text(),
                                operand.text()));
    }
  }
  return {operand};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<HostTensor> lower = {operands[1], operands[0]};
  std::vector<HostTensor> raised = kMaximumOp.evaluate(op, lower);
  raised.push_back(operands[2]);
  return kMinimumOp.evaluate(op, raised);
}

std::vector<Node> emit(const Op&, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const bool boolean = expression.dtype(operands[1]) == DType::kI1;
  const Node raised =
      expression.apply(boolean ? Primitive::kOr : Primitive::kMax, {operands[1], operands[0]});
  return {expression.apply(boolean ? Primitive::kAnd : Primitive::kMin, {raised, operands[2]})};
}

}  // namespace

const OpDefinition kClampOp{
    .name = "stablehlo.clamp",
    .summary = "The second operand held between the first and the third.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kAnyDType, kAnyDType, kAnyDType}},
};

}  // namespace superstep
