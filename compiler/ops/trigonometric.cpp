// Sine, cosine and tangent of every float. An argument is reduced to whole half turns (tangent:
// quarter turns) and the angle from there: by Cody and Waite's method, but large f32, which call a
// function for Payne and Hanek's, with as many bits of 2 / pi as the greatest f32 needs.

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

constexpr float kHalfPi = 1.57079637F;

/// What arguments are reduced by.
struct Unit {
  int per_turn_log2;  ///< half turns 1, quarter turns 2
  bool between;       ///< angles from the middle between two, not from whole ones

  [[nodiscard]] constexpr float half_turns() const { return per_turn_log2 == 1 ? 1.0F : 0.5F; }
  [[nodiscard]] constexpr float radians() const { return 2 * kHalfPi * half_turns(); }
};
constexpr Unit kOfSine{1, false}, kOfCosine{1, true}, kOfTangent{2, false};

/// An argument is a number of units and `angle`, which lies within half a unit of 0.
struct Reduced {
  Term is_odd;  ///< the number of whole units
  Term angle;   ///< f32
};

/// The bits of 2 / pi behind the point, after a word of zeros.
constexpr std::array<std::uint32_t, 8> kTwoOverPi = {
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
constexpr float kHalfPiRest = -4.37113883e-8F;  // pi / 2 - kHalfPi
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

Reduced reduce_large(Term magnitude, Unit unit) {
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
  const Term turn = mantissa * window(0) + high_product(mantissa, window(1)) + carry;
  const Term high = unit.between ? turn - u32(bits, 1U << 30) : turn;

  const auto units = static_cast<std::uint32_t>(unit.per_turn_log2);
  const Term number_of_units = shift_right(high + u32(bits, 1U << (31 - units)), 32 - units);
  const Term upper = (shift_left(high, units) | shift_right(low, 32 - units)).bits_as(DType::kI32);
  const Term is_negative = upper < upper.i32(0);
  const Term sign = upper.apply(Primitive::kShrArithmetic, upper.i32(31));
  const Term distance = upper ^ sign;
  const Term distance_low = shift_left(low, units) ^ sign.bits_as(DType::kU32);
  // As a sum of two floats: the second has what the first one's rounding lost.
  const Term rounded = distance.as(DType::kF32);
  const Term lost = (distance - rounded.as(DType::kI32)).as(DType::kF32);
  const Term head = rounded * 0x1p-32F;
  const Term tail = lost * 0x1p-32F + distance_low.as(DType::kF32) * 0x1p-64F;
  const Term angle = head * unit.radians() +
                     (head * (2 * kHalfPiRest * unit.half_turns()) + tail * unit.radians());
  const Term no_angle = Term{bits.expression, bits.expression->constant(DType::kF32, 0x7fc00000)};
  return {
      (number_of_units & u32(bits, 1)) != u32(bits, 0),
      select(magnitude.apply(Primitive::kIsFinite), select(is_negative, -angle, angle), no_angle)};
}

/// Below so many units their products with the first parts of pi are exact.
constexpr float kMostUnits = 2048;
/// pi in parts of 12 bits, and of 8 for the 2^16 quarter turns that an f16 has at most. None is
/// negative: no units of it would make -0 a 0.
constexpr std::array<float, 4> kParts = {0x1.92p+1F, 0x1.fb4p-11F, 0x1.444p-23F, 0x1.68c234p-38F};
constexpr std::array<float, 4> kShortParts = {0x1.92p+1F, 0x1.fap-11F, 0x1.54p-19F,
                                              0x1.10b462p-29F};

/// Only operations that there are vector instructions for.
Reduced reduce(Term x, Unit unit, const std::array<float, 4>& parts) {
  // A sum with it is a whole number.
  const Term whole = x.f32(0x1.8p23F);
  const auto round = [&](Term minus) { return whole - (minus + whole); };
  Term minus_units = x * (-1 / unit.radians());
  if (unit.between) minus_units = minus_units + 0.5F;
  const Term units = round(minus_units), half = units * 0.5F;
  const Term position = unit.between ? units + 0.5F : units;
  Term angle = x;
  for (const float part : parts) angle = angle - position * (part * unit.half_turns());
  return {whole - (whole - half) != half, angle};
}

/// (sin(x) / x - 1) / x^2 over x^2, for |x| <= pi / 2: fitted for the least greatest error, which
/// is 2^-27 of the sine.
constexpr float kSine[] = {-0.1666666F, 0.0083330665F, -1.9809588e-4F, 2.6057462e-6F};
/// (tan(x) / x - 1) / x^2 likewise, for |x| <= pi / 4: fitted at Chebyshev nodes, off by less than
/// 2^-29.
constexpr float kTangent[] = {0.33333352F,  0.13332605F,    0.054066133F, 0.021251842F,
                              0.010910649F, -1.2052041e-6F, 0.0044192779F};

template <std::size_t kSize>
Term odd_polynomial(Term x, const float (&coefficients)[kSize]) {
  const Term square = x * x;
  return x + x * (square * polynomial(square, coefficients));
}

Term negative_where(Term condition, Term y) { return y - select(condition, y + y, y.f32(0)); }

Term sine_formula(const Reduced& reduced) {
  const Term x = reduced.angle, square = x * x;
  // The sum with 0 is never -0, which would make the sine of -0 a 0.
  const Term factor = square * polynomial(square, kSine) + 0.0F;
  return negative_where(reduced.is_odd, x + x * factor);
}

Term cosine_formula(const Reduced& reduced) {
  return negative_where(reduced.is_odd, odd_polynomial(-reduced.angle, kSine));
}

Term tangent_formula(const Reduced& reduced) {
  const Term y = odd_polynomial(reduced.angle, kTangent);
  return select(reduced.is_odd, y.f32(-1) / y, y);
}

/// Of an f32 of many units.
template <Term (*kFormula)(const Reduced&), const Unit& kUnit>
Expression function_of_large() {
  Expression expression;
  const Term x{&expression, expression.input(0, DType::kF32)};
  const Term y = kFormula(reduce_large(x.abs(), kUnit));
  if (!kUnit.between) static_cast<void>(select(x.sign_bit(), -y, y));
  return expression;
}

template <Term (*kFormula)(const Reduced&), const Unit& kUnit>
std::vector<Node> emit(const Op&, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const DType dtype = expression.dtype(operands[0]);
  const Term operand{&expression, operands[0]};
  const Term x = dtype == DType::kF32 ? operand : operand.as(DType::kF32);
  if (dtype == DType::kF16) return {kFormula(reduce(x, kUnit, kShortParts)).as(dtype).node};
  const Term is_large = x.abs() > kMostUnits * kUnit.radians();
  const Term y = kFormula(reduce(x, kUnit, kParts));
  static const Expression large = function_of_large<kFormula, kUnit>();
  const Node result = expression.call_where(is_large.node, y.node, large, x.node);
  return {dtype == DType::kF32 ? result : expression.convert(result, dtype)};
}

}  // namespace

const OpDefinition kSineOp{
    .name = "stablehlo.sine",
    .summary = "Sine of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<sine, sine>,
    .lowerings = {ElementwiseLowering{emit<sine_formula, kOfSine>}},
    .traits = {.operands = {kFloats | kComplex}},
    .attributes = kResultAccuracy,
};
const OpDefinition kCosineOp{
    .name = "stablehlo.cosine",
    .summary = "Cosine of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<cosine, cosine>,
    .lowerings = {ElementwiseLowering{emit<cosine_formula, kOfCosine>}},
    .traits = {.operands = {kFloats | kComplex}},
    .attributes = kResultAccuracy,
};
const OpDefinition kTanOp{
    .name = "stablehlo.tan",
    .summary = "Tangent of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tangent, tangent>,
    .lowerings = {ElementwiseLowering{emit<tangent_formula, kOfTangent>}},
    .traits = {.operands = {kFloats | kComplex}},
    .attributes = kResultAccuracy,
};
const OpDefinition kChloTanOp{
    .name = "chlo.tan",
    .summary = "Tangent of each element, an angle in radians.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tangent, tangent>,
    .lowerings = {ElementwiseLowering{emit<tangent_formula, kOfTangent>}},
    .traits = {.operands = {kFloats | kComplex}},
};

}  // namespace superstep
