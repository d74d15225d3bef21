// Sine, cosine and tangent of every float. An argument is reduced to a quarter turn and the angle
// from its middle; f32 by Payne and Hanek's method, with as many bits of 2 / pi as the greatest
// f32 needs, so that the angle is right to its last bits for each of them.

#include <array>
#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double tangent(double x) { return std::tan(x); }

/// |x| is `quadrant` quarter turns (modulo 4) and `angle`, which lies within pi / 4 of 0.
struct Reduced {
  Term quadrant;  ///< u32
  Term angle;     ///< f32
};

/// The bits of 2 / pi behind the point, after a word of zeros.
constexpr std::array<std::uint32_t, 8> kTwoOverPi = {
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
constexpr float kHalfPi = 1.57079637F;
constexpr float kHalfPiRest = -4.37113883e-8F;  // pi / 2 - kHalfPi
constexpr float kQuarterPi = 0.785398185F;
constexpr int kFractionBits = 23, kBias = 127;

Term u32(Term like, std::uint32_t value) {
  return {like.expression, like.expression->constant(DType::kU32, value)};
}
Term shift_left(Term x, Term by) { return x.apply(Primitive::kShl, by); }
Term shift_right(Term x, Term by) { return x.apply(Primitive::kShrLogical, by); }
Term shift_left(Term x, std::uint32_t by) { return shift_left(x, u32(x, by)); }
Term shift_right(Term x, std::uint32_t by) { return shift_right(x, u32(x, by)); }

/// The upper word of the product of a number below 2^24 and a word, from products of half words.
Term high_product(Term number, Term word) {
  const Term half = u32(word, 0xffff);
  const Term low = number & half, high = shift_right(number, 16);
  const Term word_low = word & half, word_high = shift_right(word, 16);
  const Term middle = high * word_low + shift_right(low * word_low, 16);
  const Term carried = low * word_high + (middle & half);
  return high * word_high + shift_right(middle, 16) + shift_right(carried, 16);
}

Reduced reduce_f32(Term magnitude) {
  const Term bits = magnitude.bits_as(DType::kU32);
  const Term mantissa = (bits & u32(bits, 0x7fffff)) | u32(bits, 0x800000);
  // In turns, bits of 2 / pi above this one only make whole numbers.
  constexpr std::uint32_t kOrigin = kBias + kFractionBits + 2 - 32;
  const Term first = shift_right(bits, kFractionBits) - u32(bits, kOrigin);
  const Term number = shift_right(first, 5), shift = first & u32(bits, 31);
  const Term rest = u32(bits, 31) - shift;
  std::vector<Term> words;
  for (std::size_t i = 0; i < 4; ++i) {
    Term word = u32(bits, kTwoOverPi[i + 4]);
    for (std::uint32_t n = 4; n-- > 0;) {
      word = select(number == u32(bits, n), u32(bits, kTwoOverPi[i + n]), word);
    }
    words.push_back(word);
  }
  const auto window = [&](std::size_t i) {
    return shift_left(words[i], shift) | shift_right(shift_right(words[i + 1], 1), rest);
  };
  // The fraction of a turn, 64 bits.
  const Term low_part = mantissa * window(1);
  const Term low = low_part + high_product(mantissa, window(2));
  const Term carry = (low < low_part).as(DType::kU32);
  const Term high = mantissa * window(0) + high_product(mantissa, window(1)) + carry;

  const Term quadrant = shift_right(high + u32(bits, 1U << 29), 30);
  const Term upper = (shift_left(high, 2) | shift_right(low, 30)).bits_as(DType::kI32);
  const Term is_negative = upper < upper.i32(0);
  const Term sign = upper.apply(Primitive::kShrArithmetic, upper.i32(31));
  const Term distance = upper ^ sign;
  const Term distance_low = shift_left(low, 2) ^ sign.bits_as(DType::kU32);
  // As a sum of two floats: the second has what the first one's rounding lost.
  const Term rounded = distance.as(DType::kF32);
  const Term lost = (distance - rounded.as(DType::kI32)).as(DType::kF32);
  const Term head = rounded * 0x1p-32F;
  const Term tail = lost * 0x1p-32F + distance_low.as(DType::kF32) * 0x1p-64F;
  const Term angle = head * kHalfPi + (head * kHalfPiRest + tail * kHalfPi);

  const Term is_small = magnitude < kQuarterPi;
  const Term reduced = select(is_small, magnitude, select(is_negative, -angle, angle));
  const Term no_angle = Term{bits.expression, bits.expression->constant(DType::kF32, 0x7fc00000)};
  return {select(is_small, u32(bits, 0), quadrant),
          select(magnitude.apply(Primitive::kIsFinite), reduced, no_angle)};
}

/// Cody and Waite's method for what f16 holds: below 2^16 quarter turns, so that their products
/// with parts of pi / 2 of 8 bits are exact.
Reduced reduce_f16(Term magnitude) {
  constexpr float kParts[] = {0x1.92p+0F, 0x1.fap-12F, 0x1.54p-20F, 0x1.10b462p-30F};
  const Term turns = (magnitude * (1 / kHalfPi)).apply(Primitive::kRoundEven);
  Term angle = magnitude;
  for (const float part : kParts) angle = angle - turns * part;
  return {turns.as(DType::kU32), angle};
}

// Between -pi / 4 and pi / 4, over the square of the angle; fitted at Chebyshev nodes, off by less
// than 2^-33 (sine, cosine) and 2^-29 (tangent).
constexpr float kSine[] = {-0.16666667F, 0.0083333291F, -1.983933e-4F, 2.7182741e-6F};
constexpr float kCosine[] = {0.041666646F, -0.0013887364F, 2.4438084e-5F};
constexpr float kTangent[] = {0.33333352F,  0.13332605F,    0.054066133F, 0.021251842F,
                              0.010910649F, -1.2052041e-6F, 0.0044192779F};

Term is_odd(Term quadrant) { return (quadrant & u32(quadrant, 1)) != u32(quadrant, 0); }
Term is_in_lower_half(Term quadrant) { return (quadrant & u32(quadrant, 2)) != u32(quadrant, 0); }

/// The sine of `quadrant` quarter turns and an angle.
Term sine_of(Term quadrant, Term angle) {
  const Term square = angle * angle;
  const Term sine = angle + angle * (square * polynomial(square, kSine));
  const Term cosine = (square * -0.5F + square * square * polynomial(square, kCosine)) + 1.0F;
  return select(is_odd(quadrant), cosine, sine);
}

Term sine_formula(Term x, const Reduced& reduced) {
  const Term y = sine_of(reduced.quadrant, reduced.angle);
  return select(is_in_lower_half(reduced.quadrant) ^ x.sign_bit(), -y, y);
}

Term cosine_formula(Term, const Reduced& reduced) {
  const Term quadrant = reduced.quadrant + u32(reduced.quadrant, 1);
  const Term y = sine_of(quadrant, reduced.angle);
  return select(is_in_lower_half(quadrant), -y, y);
}

Term tangent_formula(Term x, const Reduced& reduced) {
  const Term angle = reduced.angle;
  const Term square = angle * angle;
  const Term tangent = angle + angle * (square * polynomial(square, kTangent));
  const Term y = select(is_odd(reduced.quadrant), angle.f32(-1) / tangent, tangent);
  return select(x.sign_bit(), -y, y);
}

template <Term (*kFormula)(Term, const Reduced&)>
std::vector<Node> emit(const Op&, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const bool half = expression.dtype(operands[0]) == DType::kF16;
  const Term operand{&expression, operands[0]};
  const Term x = half ? operand.as(DType::kF32) : operand;
  const Term y = kFormula(x, half ? reduce_f16(x.abs()) : reduce_f32(x.abs()));
  return {(half ? y.as(DType::kF16) : y).node};
}

}  // namespace

const OpDefinition kSineOp{
    .name = "stablehlo.sine",
    .summary = "Sine of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<sine>,
    .lowerings = {ElementwiseLowering{emit<sine_formula>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kCosineOp{
    .name = "stablehlo.cosine",
    .summary = "Cosine of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<cosine>,
    .lowerings = {ElementwiseLowering{emit<cosine_formula>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kTanOp{
    .name = "stablehlo.tan",
    .summary = "Tangent of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tangent>,
    .lowerings = {ElementwiseLowering{emit<tangent_formula>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kChloTanOp{
    .name = "chlo.tan",
    .summary = "Tangent of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tangent>,
    .lowerings = {ElementwiseLowering{emit<tangent_formula>}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
