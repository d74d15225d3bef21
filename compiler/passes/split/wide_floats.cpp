// f64 in software on pairs of ui32, the lower word first.

#include "compiler/passes/split/soft_double.h"
#include "compiler/passes/split/word_rules.h"

namespace superstep::split {
namespace {

Number square(Number a) { return multiply_double(a, a); }

Number sign(Number a) {
  const GraphWord one = constant(a.low, kDoubleBias << 20);
  const Number unit{constant(a.low, 0), one | (a.high & constant(a.low, 0x80000000U))};
  const Number number = select(is_zero_double(a), a, unit);
  return select(is_nan(a), double_nan(a.low), number);
}

Parts clamp(const WideOp& op) {
  return parts(minimum_double(maximum_double(operand(op, 1), operand(op, 0)), operand(op, 2)));
}

bool is_total_order(const Op& op) {
  const auto type = op.attributes.find("compare_type");
  return type != op.attributes.end() && std::get<std::string>(type->second) == "TOTALORDER";
}

Parts compare_numbers(const WideOp& op) {
  const Number a = operand(op, 0), b = operand(op, 1);
  if (is_total_order(op.op)) {
    const Number x = ordered(a), y = ordered(b);
    return parts(compared(op.op, below(x, y), equal(x, y), below(y, x)));
  }
  return parts(compared(op.op, below_double(a, b), equal_double(a, b), below_double(b, a)));
}

Parts is_finite(const WideOp& op) {
  const Number a = operand(op, 0);
  return parts(below(magnitude_high(a), constant(a.high, kDoubleInfinity)));
}

constexpr Rule kRules[] = {
    {&kAddOp, binary<add_double>},
    {&kSubtractOp, binary<subtract_double>},
    {&kMultiplyOp, binary<multiply_double>},
    {&kSquareOp, unary<square>},
    {&kDivideOp, binary<divide_double>},
    {&kSqrtOp, unary<sqrt_double>},
    {&kMinimumOp, binary<minimum_double>},
    {&kMaximumOp, binary<maximum_double>},
    {&kClampOp, clamp},
    {&kNegateOp, unary<negated_double>},
    {&kAbsOp, unary<abs_double>},
    {&kSignOp, unary<sign>},
    {&kIsFiniteOp, is_finite},
    {&kCompareOp, compare_numbers},
};

}  // namespace

std::span<const Rule> double_rules() { return kRules; }

}  // namespace superstep::split
