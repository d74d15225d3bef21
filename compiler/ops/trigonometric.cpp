// Sine, cosine and tangent of every float. An argument is reduced to whole quarter turns and the
// angle from there: by Cody and Waite's method, but large f32, which call a function for Payne and
// Hanek's, with as many bits of 2 / pi as the greatest f32 needs.

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
Complex tangent(Complex x) { return std::tan(x); }
Complex sine(Complex x) { return std::sin(x); }
Complex cosine(Complex x) { return std::cos(x); }

/// An argument is a number of quarter turns, and an angle that lies within half of one from 0.
struct Reduced {
  Term quarters;  ///< u32; its last two bits count
  Sum angle;      ///< less its second part, which is below the last place of the first
};

/// The bits of 2 / pi behind the point, after a word of zeros.
constexpr std::array<std::uint32_t, 8> kTwoOverPi = {
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
constexpr float kHalfPi = 1.57079637F;
constexpr float kHalfPiHead = 0x1.922p+0F, kHalfPiTail = -0x1.2aeef4p-18F;  // 12 bits and the rest
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

Reduced reduce_large(Term magnitude) {
  const Term bits = magnitude.bits_as(DType::kU32);
  const Term mantissa = (bits & u32(bits, 0x7fffff)) | u32(bits, 0x800000);
  // In turns, bits of 2 / pi above this one only make whole numbers.
  constexpr std::uint32_t kOrigin = kBias + kFractionBits + 2 - 32;
  const Term first = shift_right(bits, kFractionBits) - u32(bits, kOrigin);
  const Term number = shift_right(first, 5), shift = first & u32(bits, 31);
  const Term opposite = u32(bits, 31) - shift;
  std::vector<Term> words;
  for (std::size_t i = 0; i < 4; ++i) {
    Term word = u32(bits, kTwoOverPi[i + 4]);
    for (std::uint32_t n = 4; n-- > 0;) {
      word = select(number == u32(bits, n), u32(bits, kTwoOverPi[i + n]), word);
    }
    words.push_back(word);
  }
  const auto window = [&](std::size_t i) {
    return shift_left(words[i], shift) | shift_right(shift_right(words[i + 1], 1), opposite);
  };
  // The fraction of a turn, 64 bits.
  const Term low_part = mantissa * window(1);
  const Term low = low_part + high_product(mantissa, window(2));
  const Term carry = (low < low_part).as(DType::kU32);
  const Term turn = mantissa * window(0) + high_product(mantissa, window(1)) + carry;

  const Term quarters = shift_right(turn + u32(bits, 1U << 29), 30);
  const Term upper = (shift_left(turn, 2) | shift_right(low, 30)).bits_as(DType::kI32);
  const Term is_negative = upper < upper.i32(0);
  const Term sign = upper.apply(Primitive::kShrArithmetic, upper.i32(31));
  const Term distance = upper ^ sign;
  const Term distance_low = shift_left(low, 2) ^ sign.bits_as(DType::kU32);
  // As a sum of two floats: the second has what the first one's rounding lost.
  const Term rounded = distance.as(DType::kF32);
  const Term lost = (distance - rounded.as(DType::kI32)).as(DType::kF32);
  const Term head = rounded * 0x1p-32F;
  const Term tail = lost * 0x1p-32F + distance_low.as(DType::kF32) * 0x1p-64F;
  // The product of the first one's halves and those of pi / 2, the greatest first.
  const Term first_of_head = first_half(head), second_of_head = head - first_of_head;
  const Term product = first_of_head * kHalfPiHead;
  const Term rest = second_of_head * kHalfPiHead + (head * kHalfPiTail + tail * kHalfPi);
  const Term angle = product + rest;
  const Term excess = (angle - product) - rest;
  const Term no_angle = Term{bits.expression, bits.expression->constant(DType::kF32, 0x7fc00000)};
  return {
      quarters,
      {select(magnitude.apply(Primitive::kIsFinite), select(is_negative, -angle, angle), no_angle),
       select(is_negative, -excess, excess)}};
}

/// Below so many quarter turns their products with the first parts of a quarter are exact.
constexpr float kMostQuarters = 4096;
/// pi / 2 in parts of 12 bits, and of 8 for the 2^16 quarter turns that an f16 has at most. None is
/// negative: no turns of it would make -0 a 0.
constexpr std::array<float, 4> kParts = {0x1.92p+0F, 0x1.fb4p-12F, 0x1.444p-24F, 0x1.68c234p-39F};
constexpr std::array<float, 4> kShortParts = {0x1.92p+0F, 0x1.fap-12F, 0x1.54p-20F,
                                              0x1.10b462p-30F};

/// Only operations that there are vector instructions for.
Reduced reduce(Term x, const std::array<float, 4>& parts) {
  // A sum with it is a whole number, in its last bits.
  constexpr float kWhole = 0x1.8p23F;
  const Term sum = x * (1 / kHalfPi) + kWhole;
  const Term quarters = sum - kWhole;
  const Term near = (x - quarters * parts[0]) - quarters * parts[1];
  // What the third difference rounds off goes with the last part.
  const Term third = quarters * parts[2], nearer = near - third;
  const Term rest = quarters * parts[3] - ((near - nearer) - third);
  const Term angle = nearer - rest;
  return {sum.bits_as(DType::kU32), {angle, rest - (nearer - angle)}};
}

// All fitted at Chebyshev nodes, for |x| <= pi / 4.
/// (sin(x) / x - 1) / x^2 over x^2, off by less than 2^-32 of the sine.
constexpr float kSine[] = {-0.166666672F, 0.00833337288F, -1.98502938e-4F, 2.80435188e-6F};
/// (cos(x) - 1) / x^2 over x^2, off by less than 2^-32 of the cosine.
constexpr float kCosine[] = {-0.5F, 0.0416666456F, -0.00138873106F, 2.44325656e-05F};
/// (tan(x) / x - 1) / x^2 over x^2, off by less than 2^-29 of the tangent.
constexpr float kTangent[] = {0.333333492F,  0.133326828F,    0.0540576875F, 0.021293534F,
                              0.0108070849F, 0.000124967904F, 0.00435929699F};

/// Whether a bit is set.
Term has_bit(Term word, std::uint32_t bit) {
  return (word & u32(word, bit)).bits_as(DType::kF32) != 0.0F;
}
Term negative_where(Term condition, Term y) { return y - select(condition, y + y, y.f32(0)); }

Term sine_formula(const Reduced& reduced) {
  const Term word = reduced.quarters;
  const Term x = reduced.angle.high, square = x * x;
  // The sum with 0 is never -0, which would make the sine of -0 a 0.
  const Term sine = x + x * (square * polynomial(square, kSine) + 0.0F);
  const Term cosine = square * polynomial(square, kCosine) + 1.0F;
  return negative_where(has_bit(word, 2), select(has_bit(word, 1), cosine, sine));
}

Term cosine_formula(const Reduced& reduced) {
  const Term word = reduced.quarters;
  const Term x = reduced.angle.high, square = x * x;
  const Term sine = x + x * (square * polynomial(square, kSine));
  const Term cosine = square * polynomial(square, kCosine) + 1.0F;
  return negative_where(has_bit(word, 2), select(has_bit(word, 1), -sine, cosine));
}

Term tangent_formula(const Reduced& reduced) {
  const auto [x, excess] = reduced.angle;
  const Term square = x * x;
  const Term rise = x * (square * polynomial(square, kTangent));
  const Term near = x + rise;
  // The slope is 1 and the square of the tangent.
  const Term tail = rise - (excess * (near * near) + excess);
  const Term y = x + tail;
  const Term rest = tail - (y - x);
  const Term inverse = y.apply(Primitive::kReciprocal);
  const Term turned = inverse * (inverse * rest) - inverse;
  return select(has_bit(reduced.quarters, 1), turned, y);
}

/// Of an f32 of many quarter turns.
template <Term (*kFormula)(const Reduced&), bool kIsOdd>
Expression function_of_large() {
  Expression expression;
  const Term x{&expression, expression.input(0, DType::kF32)};
  const Term y = kFormula(reduce_large(x.abs()));
  if (kIsOdd) static_cast<void>(select(x.sign_bit(), -y, y));
  return expression;
}

template <Term (*kFormula)(const Reduced&), bool kIsOdd>
std::vector<Node> emit(const Op&, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const DType dtype = expression.dtype(operands[0]);
  const Term operand{&expression, operands[0]};
  const Term x = dtype == DType::kF32 ? operand : operand.as(DType::kF32);
  if (dtype == DType::kF16) return {kFormula(reduce(x, kShortParts)).as(dtype).node};
  const Term is_large = x.abs() > kMostQuarters * kHalfPi;
  const Term y = kFormula(reduce(x, kParts));
  static const Expression large = function_of_large<kFormula, kIsOdd>();
  const Node result = expression.call_where(is_large.node, y.node, large, x.node);
  return {dtype == DType::kF32 ? result : expression.convert(result, dtype)};
}

}  // namespace

const OpDefinition kSineOp{
    .name = "stablehlo.sine",
    .summary = "Sine of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<sine, sine>,
    .lowerings = {ElementwiseLowering{emit<sine_formula, true>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kCosineOp{
    .name = "stablehlo.cosine",
    .summary = "Cosine of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<cosine, cosine>,
    .lowerings = {ElementwiseLowering{emit<cosine_formula, false>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kTanOp{
    .name = "stablehlo.tan",
    .summary = "Tangent of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tangent, tangent>,
    .lowerings = {ElementwiseLowering{emit<tangent_formula, true>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kChloTanOp{
    .name = "chlo.tan",
    .summary = "Tangent of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tangent, tangent>,
    .lowerings = {ElementwiseLowering{emit<tangent_formula, true>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};

}  // namespace superstep
