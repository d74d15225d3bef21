#include "compiler/vertex/reduce_operation.h"

namespace superstep::vertex {

std::vector<DType> element_dtypes(const Expression& expression, const std::vector<DType>& dtypes) {
  std::vector<DType> elements = dtypes;
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput && step.bits >= dtypes.size()) {
      elements[step.bits - dtypes.size()] = step.dtype;
    }
  }
  return elements;
}

std::optional<SingleOperation> single_operation(const Expression& expression,
                                                const std::vector<Node>& outputs,
                                                const std::vector<DType>& dtypes) {
  if (dtypes.size() != 1 || (dtypes[0] != DType::kF16 && dtypes[0] != DType::kF32))
    return std::nullopt;
  const auto& steps = expression.steps();
  const Expression::Step& step = steps[outputs[0].id];
  if (step.operands.size() != 2) return std::nullopt;
  const Expression::Step* x = &steps[step.operands[0]];
  const Expression::Step* y = &steps[step.operands[1]];
  // A sum of widened elements.
  if (step.primitive == Primitive::kAdd && y->primitive == Primitive::kConvert &&
      steps[y->operands[0]].dtype == DType::kF16) {
    y = &steps[y->operands[0]];
  }
  if (x->primitive != Primitive::kInput || y->primitive != Primitive::kInput || x->bits == y->bits)
    return std::nullopt;
  if (x->dtype != dtypes[0] || (y->dtype != dtypes[0] && y->bits != 1)) return std::nullopt;
  const bool half = dtypes[0] == DType::kF16;
  const auto operation = [&](std::string_view name, std::uint32_t f32, std::uint32_t f16,
                             bool drops_nan) {
    return SingleOperation{name, y->dtype, dtypes[0], half ? f16 : f32, drops_nan};
  };
  switch (step.primitive) {
    case Primitive::kAdd:
      return operation("add", kNegativeZero, kNegativeZeroF16, false);
    case Primitive::kMul:
      return operation("mul", 0x3f800000, 0x3c00, false);
    case Primitive::kMax:
      return operation("max", 0xff800000, 0xfc00, true);
    case Primitive::kMin:
      return operation("min", 0x7f800000, 0x7c00, true);
    default:
      return std::nullopt;
  }
}

}  // namespace superstep::vertex
