// f64 in software on pairs of ui32, the lower word first.

#include <algorithm>

#include "compiler/ops/compare.h"
#include "compiler/ops/verify.h"
#include "compiler/passes/split/error_functions.h"
#include "compiler/passes/split/roundings.h"
#include "compiler/passes/split/trigonometry.h"
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

Parts reduce_precision(const WideOp& op) {
  const auto bits = [&](const char* name, std::int64_t most) {
    return static_cast<std::uint32_t>(std::min(attribute<std::int64_t>(op.op, name), most));
  };
  return parts(
      reduced_double(operand(op, 0), bits("exponent_bits", 11), bits("mantissa_bits", 52)));
}

Parts is_inf(const WideOp& op) { return parts(is_infinite(operand(op, 0))); }
Parts is_pos_inf(const WideOp& op) {
  const Number a = operand(op, 0);
  return parts(equal(a, infinity_of(constant(a.low, 0))));
}
Parts is_neg_inf(const WideOp& op) {
  const Number a = operand(op, 0);
  return parts(equal(a, infinity_of(constant(a.low, ~0U))));
}

/// Of a number that has no imaginary part.
Number real(Number a) { return a; }
Number imaginary(Number a) { return constant(a.low, std::uint64_t{0}); }

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
    {&kRealOp, unary<real>},
    {&kImagOp, unary<imaginary>},
    {&kIsFiniteOp, is_finite},
    {&kCompareOp, compare_numbers},
    {&kIsInfOp, is_inf},
    {&kIsPosInfOp, is_pos_inf},
    {&kIsNegInfOp, is_neg_inf},
    {&kFloorOp, unary<floor_double>},
    {&kCeilOp, unary<ceil_double>},
    {&kRoundNearestAfzOp, unary<round_away_double>},
    {&kRoundNearestEvenOp, unary<round_even_double>},
    {&kReducePrecisionOp, reduce_precision},
    {&kNextAfterOp, binary<next_after_double>},
    {&kRemainderOp, binary<remainder_double>},
    {&kRsqrtOp, unary<rsqrt_double>},
    {&kCbrtOp, unary<cbrt_double>},
    {&kExponentialOp, unary<exponential_double>},
    {&kExponentialMinusOneOp, unary<exponential_minus_one_double>},
    {&kLogOp, unary<logarithm_double>},
    {&kLogPlusOneOp, unary<logarithm_plus_one_double>},
    {&kPowerOp, binary<power_double>},
    {&kLogisticOp, unary<logistic_double>},
    {&kSineOp, unary<sine_double>},
    {&kCosineOp, unary<cosine_double>},
    {&kTanOp, unary<tangent_double>},
    {&kChloTanOp, unary<tangent_double>},
    {&kAtan2Op, binary<atan2_double>},
    {&kAsinOp, unary<asin_double>},
    {&kAcosOp, unary<acos_double>},
    {&kTanhOp, unary<tanh_double>},
    {&kSinhOp, unary<sinh_double>},
    {&kCoshOp, unary<cosh_double>},
    {&kAsinhOp, unary<asinh_double>},
    {&kAcoshOp, unary<acosh_double>},
    {&kAtanhOp, unary<atanh_double>},
    {&kErfOp, unary<erf_double>},
    {&kErfcOp, unary<erfc_double>},
    {&kErfInvOp, unary<erf_inv_double>},
};

}  // namespace

std::span<const Rule> double_rules() { return kRules; }

}  // namespace superstep::split
