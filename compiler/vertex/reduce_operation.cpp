#include "compiler/vertex/reduce_operation.h"

namespace superstep::vertex {

std::optional<SingleOperation> single_operation(const Expression& expression,
                                                const std::vector<Node>& outputs,
                                                const std::vector<DType>& dtypes) {
  if (dtypes.size() != 1 || dtypes[0] != DType::kF32) return std::nullopt;
  const Expression::Step& step = expression.steps()[outputs[0].id];
  if (step.operands.size() != 2) return std::nullopt;
  const Expression::Step& x = expression.steps()[step.operands[0]];
  const Expression::Step& y = expression.steps()[step.operands[1]];
  if (x.primitive != Primitive::kInput || y.primitive != Primitive::kInput || x.bits == y.bits)
    return std::nullopt;
  switch (step.primitive) {
    case Primitive::kAdd:
      return SingleOperation{"f32add", "f32v2add", kNegativeZero, false};
    case Primitive::kMul:
      return SingleOperation{"f32mul", "f32v2mul", 0x3f800000, false};
    case Primitive::kMax:
      return SingleOperation{"f32max", "f32v2max", 0xff800000, true};
    case Primitive::kMin:
      return SingleOperation{"f32min", "f32v2min", 0x7f800000, true};
    default:
      return std::nullopt;
  }
}

}  // namespace superstep::vertex
