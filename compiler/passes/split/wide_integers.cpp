// i64 and ui64 as pairs of ui32, the lower word first.

#include <vector>

#include "compiler/passes/split/word_loop.h"
#include "compiler/passes/split/word_rules.h"

namespace superstep::split {
namespace {

GraphBit is_below(DType dtype, const Number& a, const Number& b) {
  return is_signed(dtype) ? below_signed(a, b) : below(a, b);
}

Number add(Number a, Number b) { return a + b; }
Number subtract(Number a, Number b) { return a - b; }
bool is_one(const Number& a) { return known(a.low) == 1U && known(a.high) == 0U; }
Number multiply(Number a, Number b) { return is_one(a) ? b : is_one(b) ? a : a * b; }
Number square(Number a) { return a * a; }
Number logical_and(Number a, Number b) { return a & b; }
Number logical_or(Number a, Number b) { return a | b; }
Number logical_xor(Number a, Number b) { return a ^ b; }
Number logical_not(Number a) { return inverted(a); }
Number negate(Number a) { return negated(a); }
Number absolute(Number a) { return with_sign(a, sign_of(a.high)); }
Number count_leading_zeros(Number a) { return widened(clz(a)); }
Number popcnt(Number a) {
  return widened(GraphWord{apply(kPopcntOp, a.low.tensor) + apply(kPopcntOp, a.high.tensor)});
}
Number sign(Number a) {
  const GraphWord below_zero = sign_of(a.high);
  return {below_zero | one_where(any(a)), below_zero};
}

Parts divide_by(const WideOp& op, bool wants_quotient) {
  const Number a = operand(op, 0), b = operand(op, 1);
  if (!is_signed(op.dtype)) {
    const WideDivision<GraphWord> result = divide(a, b);
    return parts(wants_quotient ? result.quotient : result.remainder);
  }
  const GraphWord a_sign = sign_of(a.high), b_sign = sign_of(b.high);
  const WideDivision<GraphWord> result = divide(with_sign(a, a_sign), with_sign(b, b_sign));
  if (!wants_quotient) return parts(with_sign(result.remainder, a_sign));
  const Number quotient = with_sign(result.quotient, a_sign ^ b_sign);
  return parts(select(is_zero(b), constant(a.low, ~std::uint64_t{0}), quotient));
}
Parts divide(const WideOp& op) { return divide_by(op, true); }
Parts remainder(const WideOp& op) { return divide_by(op, false); }

/// Squares times each other, one bit of the exponent a turn. Wraps; a negative exponent gives 0,
/// but of 1 and -1.
Parts power(const WideOp& op) {
  const Number x = operand(op, 0), y = operand(op, 1);
  const Number one = constant(x.low, std::uint64_t{1});
  const std::vector<GraphWord> all =
      loop(64, {one.low, one.high, x.low, x.high, y.low, y.high},
           [](const std::vector<GraphWord>& words, GraphTurn) -> std::vector<GraphWord> {
             const Number result{words[0], words[1]}, factor{words[2], words[3]};
             const Number rest{words[4], words[5]};
             const GraphBit is_set = any(rest.low & constant(rest.low, 1));
             const Number next = select(is_set, result * factor, result);
             const Number squared = factor * factor, left = shr(rest, 1);
             return {next.low, next.high, squared.low, squared.high, left.low, left.high};
           });
  const Number result{all[0], all[1]};
  if (!is_signed(op.dtype)) return parts(result);
  const Number zero = constant(x.low, std::uint64_t{0}), minus_one = inverted(zero);
  const GraphBit is_odd = any(y.low & constant(y.low, 1));
  const Number of_minus_one = select(is_odd, minus_one, one);
  const Number reciprocal =
      select(equal(x, one), one, select(equal(x, minus_one), of_minus_one, zero));
  return parts(select(any(sign_of(y.high)), reciprocal, result));
}

Number smaller(DType dtype, const Number& a, const Number& b) {
  return select(is_below(dtype, a, b), a, b);
}
Number larger(DType dtype, const Number& a, const Number& b) {
  return select(is_below(dtype, a, b), b, a);
}
Parts minimum(const WideOp& op) { return parts(smaller(op.dtype, operand(op, 0), operand(op, 1))); }
Parts maximum(const WideOp& op) { return parts(larger(op.dtype, operand(op, 0), operand(op, 1))); }
Parts clamp(const WideOp& op) {
  const Number raised = larger(op.dtype, operand(op, 1), operand(op, 0));
  return parts(smaller(op.dtype, raised, operand(op, 2)));
}

/// The amount of a shift; from 64 on the greatest of one word.
GraphWord amount(const Number& n) {
  return select(is_zero(n.high), n.low, inverted(constant(n.low, 0)));
}
Parts shift_left(const WideOp& op) { return parts(shl(operand(op, 0), amount(operand(op, 1)))); }
Parts shift_right_logical(const WideOp& op) {
  return parts(shr(operand(op, 0), amount(operand(op, 1))));
}
Parts shift_right_arithmetic(const WideOp& op) {
  return parts(shr_signed(operand(op, 0), amount(operand(op, 1))));
}

Parts compare_numbers(const WideOp& op) {
  const Number a = operand(op, 0), b = operand(op, 1);
  return parts(compared(op.op, is_below(op.dtype, a, b), equal(a, b), is_below(op.dtype, b, a)));
}

constexpr Rule kRules[] = {
    {&kAddOp, binary<add>},
    {&kSubtractOp, binary<subtract>},
    {&kMultiplyOp, binary<multiply>},
    {&kSquareOp, unary<square>},
    {&kDivideOp, divide},
    {&kRemainderOp, remainder},
    {&kPowerOp, power},
    {&kMinimumOp, minimum},
    {&kMaximumOp, maximum},
    {&kClampOp, clamp},
    {&kAndOp, binary<logical_and>},
    {&kOrOp, binary<logical_or>},
    {&kXorOp, binary<logical_xor>},
    {&kNotOp, unary<logical_not>},
    {&kNegateOp, unary<negate>},
    {&kAbsOp, unary<absolute>},
    {&kSignOp, unary<sign>},
    {&kShiftLeftOp, shift_left},
    {&kShiftRightLogicalOp, shift_right_logical},
    {&kShiftRightArithmeticOp, shift_right_arithmetic},
    {&kCountLeadingZerosOp, unary<count_leading_zeros>},
    {&kPopcntOp, unary<popcnt>},
    {&kCompareOp, compare_numbers},
};

}  // namespace

std::span<const Rule> integer_rules() { return kRules; }

}  // namespace superstep::split
