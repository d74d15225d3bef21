#include <cmath>
#include <limits>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double power(double x, double y) { return std::pow(x, y); }
Complex power(Complex x, Complex y) {
  if (x != 0.0) return std::pow(x, y);
  if (y == 0.0) return 1;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return y.real() > 0 && y.imag() == 0 ? Complex(0) : Complex(kNaN, kNaN);
}

/// Wraps; a negative exponent gives 0, but of 1 and -1.
std::int64_t power(DType dtype, std::int64_t x, std::int64_t y) {
  if (is_signed(dtype) && y < 0) {
    if (x == 1) return 1;
    return x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  }
  std::uint64_t result = 1;
  std::uint64_t square = static_cast<std::uint64_t>(x);
  for (auto rest = static_cast<std::uint64_t>(y); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<std::int64_t>(result);
}

/// An unevaluated sum. `high` has at most 12 significant bits, so that products of two of them are
/// exact.
struct Pair {
  Term high, low;
};

/// `x` with the lower 12 bits of its mantissa cleared.
Term truncated(Term x) { return (x.bits_as(DType::kI32) & x.i32(-4096)).bits_as(DType::kF32); }
Pair split(Term x) {
  const Term high = truncated(x);
  return {high, x - high};
}
/// high + low again with a short high part; |low| < |high|.
Pair normalised(Term high, Term low) {
  const Term sum = truncated(high + low);
  return {sum, low - (sum - high)};
}

/// log(m / base) for m near base: 2 s + 2 s^3 / 3 + 2 s^5 / 5 + … of s = (m - base) / (m + base),
/// |s| < 0.102.
Pair logarithm(Term m, Term base) {
  const Term numerator = m - base;
  const Term denominator = m + base;
  const Term denominator_rest = m - (denominator - base);
  const Term s = numerator / denominator;
  const Term s_high = truncated(s);
  const Pair d = split(denominator);
  const Term rest = ((numerator - s_high * d.high) - s_high * d.low) - s_high * denominator_rest;
  const Term s_low = rest / denominator;

  const Term square = s_high * s_high + (s_high + s_high + s_low) * s_low;
  constexpr float kSeries[] = {2.0F / 3, 2.0F / 5, 2.0F / 7, 2.0F / 9};
  const Term tail = s * (square * polynomial(square, kSeries));
  return normalised(s_high + s_high, s_low + s_low + tail);
}

/// log2(x) for positive finite x, to about 2^-31 of its value.
Pair logarithm2(Term x) {
  constexpr float kSmallestNormal = 1.17549435e-38F;
  constexpr std::int32_t kLowestMantissa = 0x3f5db3d7;  // sqrt(3) / 2
  constexpr float kRootOfBase = 1.2247449F;             // sqrt(1.5)
  const Term subnormal = x < kSmallestNormal;
  const Term scaled = select(subnormal, x * 16777216.0F, x);
  const Term bits = scaled.bits_as(DType::kI32);
  const Term exponent =
      (bits - bits.i32(kLowestMantissa)).apply(Primitive::kShrArithmetic, bits.i32(23));
  const Term mantissa = (bits - exponent.apply(Primitive::kShl, bits.i32(23))).bits_as(DType::kF32);
  // Taking 1 or 1.5 as the base of the mantissa keeps the series short.
  const Term low_half = mantissa < kRootOfBase;
  const Pair log = logarithm(mantissa, select(low_half, x.f32(1), x.f32(1.5F)));

  constexpr float kHigh = 1.4423828125F;  // 1 / ln 2 to 12 bits, and the rest
  constexpr float kLow = 3.1222839e-4F;
  constexpr float kBaseHigh = 0.5849609375F;  // log2(1.5) to 12 bits, and the rest
  constexpr float kBaseLow = 1.5632211e-6F;
  const Term base = select(low_half, x.f32(0), x.f32(kBaseHigh));
  const Term base_rest = select(low_half, x.f32(0), x.f32(kBaseLow));
  const Term high = log.high * kHigh;
  const Term low = log.low * kHigh + (log.high + log.low) * kLow + base_rest;
  const Term whole = exponent.as(DType::kF32) + select(subnormal, x.f32(-24), x.f32(0));
  const Term sum = truncated(((high + low) + base) + whole);
  return {sum, low - (((sum - whole) - base) - high)};
}

/// 2^(z.high + z.low), rounded once from a value good to about 1 ULP, also where it is subnormal.
Term exponential2(Pair z) {
  constexpr float kLn2 = 0.693147181F;
  // Beyond these the result is 0 or infinite anyway, and the scales below stay normal numbers.
  const Term sum = (z.high + z.low)
                       .apply(Primitive::kMin, z.high.f32(240))
                       .apply(Primitive::kMax, z.high.f32(-240));
  const Term whole = sum.apply(Primitive::kRoundEven);
  const Term fraction = ((z.high - whole) + z.low)
                            .apply(Primitive::kMin, z.high.f32(1))
                            .apply(Primitive::kMax, z.high.f32(-1));
  const Term mantissa = (fraction * kLn2).apply(Primitive::kExp);
  const Term exponent = whole.as(DType::kI32);
  const Term half = exponent.apply(Primitive::kShrArithmetic, exponent.i32(1));
  const auto scale = [](Term n) {
    return (n + n.i32(127)).apply(Primitive::kShl, n.i32(23)).bits_as(DType::kF32);
  };
  return mantissa * scale(half) * scale(exponent - half);
}

Node emit_float(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term y{&expression, operands[1]};
  const Term magnitude = x.abs();
  const Term zero = magnitude == 0.0F;
  const Term infinite = !x.apply(Primitive::kIsFinite);  // NaN too, dealt with last

  // With |log2 x| > 2^-24 for all x but 1, larger exponents change nothing.
  const Term exponent = y.apply(Primitive::kMin, y.f32(17179869184.0F))
                            .apply(Primitive::kMax, y.f32(-17179869184.0F));
  const Pair log = logarithm2(select(zero | infinite, x.f32(1), magnitude));
  const Pair e = split(exponent);
  const Term general = exponential2({e.high * log.high, e.low * log.high + exponent * log.low});
  const Term infinity{&expression, expression.constant(DType::kF32, 0x7f800000)};
  const Term extreme = select(zero ^ (y < 0.0F), x.f32(0), infinity);
  const Term unsigned_result = select(zero | infinite, extreme, general);

  const Term integer = y.apply(Primitive::kFloor) == y;
  const Term half = y * 0.5F;
  const Term odd = integer & (half.apply(Primitive::kFloor) != half);
  const Term signed_result = select(x.sign_bit() & odd, -unsigned_result, unsigned_result);
  const Term nan{&expression, expression.constant(DType::kF32, 0x7fc00000)};
  const Term undefined = ((x < 0.0F) & !(infinite | integer)) | x.is_nan() | y.is_nan();
  return select((y == 0.0F) | (x == 1.0F), x.f32(1), select(undefined, nan, signed_result)).node;
}

Node emit_integer(Expression& expression, std::span<const Node> operands) {
  const DType dtype = expression.dtype(operands[0]);
  const auto constant = [&](std::int64_t value) {
    return Term{&expression, emit_number(expression, dtype, value)};
  };
  const Term x{&expression, operands[0]};
  const Term y{&expression, operands[1]};
  const Term zero = constant(0);
  const Term one = constant(1);
  const auto width = static_cast<std::int64_t>(8 * size_of(dtype)) - (is_signed(dtype) ? 1 : 0);
  Term result = one;
  Term square = x;
  for (std::int64_t bit = 0; bit < width; ++bit) {
    const Term set = (y & constant(std::int64_t{1} << bit)) != zero;
    result = select(set, result * square, result);
    if (bit + 1 < width) square = square * square;
  }
  if (!is_signed(dtype)) return result.node;
  // Below zero only 1 and -1 have an inverse, and it is their own: by the lowest bit of the
  // exponent.
  const Term unit = (x == one) | (x == constant(-1));
  const Term inverse = select(unit, select((y & one) != zero, x, one), zero);
  return select(y < zero, inverse, result).node;
}

std::vector<Node> emit(const Op& op, const Graph& graph, Expression& expression,
                       std::span<const Node> operands) {
  if (is_float(expression.dtype(operands[0]))) {
    return emit_in_f32<emit_float>(op, graph, expression, operands);
  }
  return {emit_integer(expression, operands)};
}

}  // namespace

const OpDefinition kPowerOp{
    .name = "stablehlo.power",
    .summary = "The first element to the power of the second.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<power, power, power>,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kNumbers | kComplex, kNumbers | kComplex}, .is_arithmetic = true},
};

}  // namespace superstep
