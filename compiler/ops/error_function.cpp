#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double error_function(double x) { return std::erf(x); }
double complement(double x) { return std::erfc(x); }

/// By Newton's method from Winitzki's approximation.
double inverse(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 1)) {
    return magnitude == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                          : std::numeric_limits<double>::quiet_NaN();
  }
  if (magnitude == 0) return x;
  constexpr double kA = 0.147;  // Winitzki's
  const double log = std::log1p(-magnitude * magnitude);
  const double middle = 2 / (std::numbers::pi * kA) + log / 2;
  double y = std::sqrt(std::sqrt(middle * middle - log / kA) - middle);
  for (int step = 0; step < 6; ++step) {
    // The complement keeps its digits where the function is near 1.
    const double off = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    y -= off * std::sqrt(std::numbers::pi) / 2 * std::exp(y * y);
  }
  return std::copysign(y, x);
}

// All fitted at Chebyshev nodes.
/// erf(x) / x - 1 over x^2 for |x| <= 1, off by less than 2^-29 of the function.
constexpr float kNearZero[] = {0.128379166F,   -0.37612626F,    0.112835824F,  -0.0268536434F,
                               0.00518796267F, -8.00679321e-4F, 7.84228832e-5F};
/// -log(1 - erf(x)) for x from 1 to 4, so that erf is off by less than 2^-29; beyond, it rounds to
/// 1.
constexpr float kElsewhere[] = {3.5367740e-4F, 1.1270403F,    0.63822538F,   0.10303763F,
                                -0.021805448F, 2.9396410e-3F, -1.8557753e-4F};

Node emit_error_function(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs().apply(Primitive::kMin, x.f32(4));
  const Term near_zero = x + x * polynomial(magnitude * magnitude, kNearZero);
  const Term rest = (-polynomial(magnitude, kElsewhere)).apply(Primitive::kExp);
  const Term elsewhere = -rest + 1.0F;
  return select(magnitude < 1.0F, near_zero, with_sign_of(elsewhere, x)).node;
}

/// 1 - erf(x). Up to 0.78, where that loses little, so; else e^(x^2) (1 + 2x) (1 - erf(x)) is a
/// polynomial of (x - 2) / (x + 2) from there to where f32 end, off by less than 2^-27.
constexpr float kScaledFirst = 1.27697837F;
constexpr float kScaledRest[] = {-0.0927638113F,  -0.16603002F,   0.164050534F,   -0.0542249754F,
                                 -0.00802385341F, 0.00874912739F, 0.00121416128F, -0.00151710946F,
                                 -3.08962772e-4F, 2.52890051e-4F};
/// (e^x - 1 - x) / x^2 for |x| <= log(2) / 2, off by less than 2^-27 of the exponential.
constexpr float kExponential[] = {0.499999881F, 0.166665167F, 0.041669637F, 0.00836912636F,
                                  0.00137468404F};
/// The logarithm of 2: 16 bits, so that multiples by exponents are exact, and the rest.
constexpr float kLogOfTwo = 0.693145752F, kLogOfTwoRest = 1.42860677e-6F;

/// A sum with it is a whole number.
constexpr float kWhole = 0x1.8p23F;

/// 2 to the power of a whole number from -126 to 127.
Term power_of_two(Term exponent) {
  return ((exponent + 127.0F) * 0x1p23F).as(DType::kI32).bits_as(DType::kF32);
}

/// 2^exponent (1 + rise), of which the first part is exact.
struct Power {
  Term exponent;
  Sum rise;
};
/// e^-x^2 for x from 0 to 12, with the square of x to 36 bits.
Power falling_power(Term x) {
  const Term head = first_half(x), square = head * head;
  const Term exponent = (square * (-1 / std::numbers::ln2_v<float>)+kWhole) - kWhole;
  const Term more = exponent * kLogOfTwoRest + (x + head) * (x - head);
  const Term whole = -(exponent * kLogOfTwo + square);
  const Term rest = whole - more;
  return {exponent, {whole, rest * rest * polynomial(rest, kExponential) - more}};
}

Node emit_complement(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs().apply(Primitive::kMin, x.f32(10.25F));
  const Term excess = x * polynomial(magnitude * magnitude, kNearZero);
  const Term near_zero = ((-x + 0.5F) - excess) + 0.5F;
  const auto [exponent, rise] = falling_power(magnitude);
  const Term place = (magnitude - 2.0F) / (magnitude + 2.0F);
  const Term scaled = place * polynomial(place, kScaledRest);
  const Term numerator = scaled + kScaledFirst;
  const Term numerator_rest = scaled - (numerator - kScaledFirst);
  // The first 12 bits of the quotient leave a remainder without an error.
  const Term twice = magnitude * 2.0F, denominator = twice + 1.0F;
  const Term head = first_half(denominator), last = -(head - twice) + 1.0F;
  const Term inverse = denominator.apply(Primitive::kReciprocal);
  const Term quotient = first_half(numerator * inverse);
  const Term remainder = numerator - quotient * head - quotient * last;
  const Term rest = (remainder + numerator_rest) * inverse;
  const Term least = (quotient + rest) * rise.low + (rest + rest * rise.high);
  const Term product = quotient + (quotient * rise.high + least);
  // In two steps: the last numbers are subnormal.
  const Term half = (exponent * 0.5F + kWhole) - kWhole;
  const Term tail = product * power_of_two(half) * power_of_two(exponent - half);
  const Term elsewhere = select(x < 0.0F, -tail + 2.0F, tail);
  return select(magnitude < 0.78125F, near_zero, elsewhere).node;
}

/// The inverse over x, by w = -log(1 - x^2), as M. Giles has it (Approximating the erfinv
/// function, 2010): less 1 over w - 2 log(2) below 5, less 2 over sqrt(w) - 3 from there to the
/// last f32 below 1. Fitted anew, off by less than 2^-26 of the inverse.
constexpr float kCentralFirst = 0.223610699F;
constexpr float kCentralRest[] = {0.250080168F,     0.00160690746F,  -0.00216986937F,
                                  0.000163405348F,  2.68282729e-05F, -5.26789472e-06F,
                                  -1.37425786e-07F, 1.12583791e-07F, -8.91021568e-09F};
constexpr float kTail[] = {0.832976818F,    1.00167513F,     0.00944534689F, -0.00763980066F,
                           0.0056846072F,   -0.00358598749F, 0.00149348553F, -7.73763168e-5F,
                           -3.17353813e-4F, 1.28954489e-4F};

Node emit_inverse(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  // 1 - x^2, of which only the last sum is rounded where x is near 1.
  const Term rest = -magnitude + 1.0F;
  const Term place = -((rest + rest * magnitude) * 4.0F).apply(Primitive::kLog);
  constexpr float kLogOfFour = 2 * std::numbers::ln2_v<float>;
  const Term w = place + kLogOfFour;
  const Term slope = place * polynomial(place, kCentralRest);
  // What the sum lost moves the root by some sixth of it.
  const Term lost = -(w - place) + kLogOfFour;
  const Term root = (w.apply(Primitive::kSqrt) - 3.0F) + lost * (1.0F / 6);
  const Term tail = polynomial(root, kTail);
  // What is above 3/2 is told from twice x, so that the factor is small.
  const Term is_high = w > 2.5F;
  const Term central = select(is_high, slope + (kCentralFirst - 1), slope + kCentralFirst);
  const Term base = magnitude + select(is_high, magnitude, x.f32(0));
  const Term y = base + magnitude * select(w > 5.0F, tail, central);
  const Term infinity = magnitude * std::numeric_limits<float>::infinity();
  return with_sign_of(select(magnitude == 1.0F, infinity, y), x).node;
}

}  // namespace

const OpDefinition kErfOp{
    .name = "chlo.erf",
    .summary = "The error function of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<error_function>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_error_function>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kErfcOp{
    .name = "chlo.erfc",
    .summary = "One minus the error function of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<complement>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_complement>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kErfInvOp{
    .name = "chlo.erf_inv",
    .summary = "The number whose error function is each element; NaN outside of -1 to 1.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<inverse>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_inverse>}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
