// Ops on one float: native instructions, and short formulas over them.

#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double exponential(double x) { return std::exp(x); }
double exponential_minus_one(double x) { return std::expm1(x); }
double log(double x) { return std::log(x); }
double log_plus_one(double x) { return std::log1p(x); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double tanh(double x) { return std::tanh(x); }
double sqrt(double x) { return std::sqrt(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double cbrt(double x) { return std::cbrt(x); }
Complex cbrt(Complex x) { return std::polar(std::cbrt(std::abs(x)), std::arg(x) / 3); }
// As XLA does: of infinite numbers only those that are real are no exceptions.
Complex exponential(Complex x) {
  const double length = std::exp(x.real());
  const double imaginary = x.imag() == 0 ? x.imag() : length * std::sin(x.imag());
  return {length * std::cos(x.imag()), imaginary};
}
Complex exponential_minus_one(Complex x) {
  const double half = std::sin(x.imag() / 2);
  const double real = std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half;
  return {real, exponential(x).imag()};
}
Complex log_plus_one(Complex x) {
  const Complex sum = std::log(1.0 + x);
  // What the sum with 1 rounds off counts where x is small.
  const double excess = x.real() * (x.real() + 2) + x.imag() * x.imag();
  return std::abs(x) < 0.5 ? Complex{std::log1p(excess) / 2, sum.imag()} : sum;
}
Complex logistic(Complex x) { return 1.0 / (1.0 + exponential(-x)); }
Complex log(Complex x) { return std::log(x); }
Complex sqrt(Complex x) { return std::sqrt(x); }
Complex rsqrt(Complex x) { return 1.0 / std::sqrt(x); }
Complex tanh(Complex x) { return std::tanh(x); }
double floor(double x) { return std::floor(x); }
double ceil(double x) { return std::ceil(x); }
double round_nearest_afz(double x) { return std::round(x); }
double round_nearest_even(double x) { return std::nearbyint(x); }

Node emit_exponential_minus_one(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  // Below 1/2 the subtraction would cancel: the Taylor series, whose rest is below 2^-26 of the sum
  // there.
  constexpr float kSeries[] = {1.0F,          1.0F / 2,      1.0F / 6,    1.0F / 24,
                               1.0F / 120,    1.0F / 720,    1.0F / 5040, 1.0F / 40320,
                               1.0F / 362880, 1.0F / 3628800};
  const Term near_zero = x * polynomial(x, kSeries);
  const Term elsewhere = x.apply(Primitive::kExp) - 1.0F;
  return select(x.abs() < 0.5F, near_zero, elsewhere).node;
}

Node emit_log_plus_one(Expression& expression, std::span<const Node> operands) {
  return superstep::log_plus_one(Term{&expression, operands[0]}).node;
}

Node emit_cbrt(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  const Term guess = (magnitude.apply(Primitive::kLog) * (1.0F / 3)).apply(Primitive::kExp);
  // The guess is good to 2^-17; one Newton step squares that.
  const Term root = guess + (magnitude / (guess * guess) - guess) * (1.0F / 3);
  const Term signed_root = select(x < 0.0F, -root, root);
  return select((x == 0.0F) | !x.apply(Primitive::kIsFinite), x, signed_root).node;
}

template <Primitive kPrimitive>
constexpr ElementwiseLowering kNative{emit_in_f32<primitive_formula<kPrimitive>>};

}  // namespace

const OpDefinition kExponentialOp{
    .name = "stablehlo.exponential",
    .summary = "e to the power of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<exponential, exponential>,
    .lowerings = {kNative<Primitive::kExp>},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kExponentialMinusOneOp{
    .name = "stablehlo.exponential_minus_one",
    .summary = "e to the power of each element, minus one.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<exponential_minus_one, exponential_minus_one>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_exponential_minus_one>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kLogOp{
    .name = "stablehlo.log",
    .summary = "Natural logarithm of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<log, log>,
    .lowerings = {kNative<Primitive::kLog>},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kLogPlusOneOp{
    .name = "stablehlo.log_plus_one",
    .summary = "Natural logarithm of one plus each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<log_plus_one, log_plus_one>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_log_plus_one>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kLogisticOp{
    .name = "stablehlo.logistic",
    .summary = "1 / (1 + e^-x) of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<logistic, logistic>,
    .lowerings = {kNative<Primitive::kSigmoid>},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kTanhOp{
    .name = "stablehlo.tanh",
    .summary = "Hyperbolic tangent of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<tanh, tanh>,
    .lowerings = {kNative<Primitive::kTanh>},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kSqrtOp{
    .name = "stablehlo.sqrt",
    .summary = "Square root of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<sqrt, sqrt>,
    .lowerings = {kNative<Primitive::kSqrt>},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kRsqrtOp{
    .name = "stablehlo.rsqrt",
    .summary = "One over the square root of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<rsqrt, rsqrt>,
    .lowerings = {kNative<Primitive::kRsqrt>},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kCbrtOp{
    .name = "stablehlo.cbrt",
    .summary = "Cube root of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<cbrt, cbrt>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_cbrt>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
    .attributes = kResultAccuracy,
};
const OpDefinition kFloorOp{
    .name = "stablehlo.floor",
    .summary = "The nearest integer that is not above each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<floor>,
    .lowerings = {kNative<Primitive::kFloor>},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kCeilOp{
    .name = "stablehlo.ceil",
    .summary = "The nearest integer that is not below each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<ceil>,
    .lowerings = {kNative<Primitive::kCeil>},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kRoundNearestAfzOp{
    .name = "stablehlo.round_nearest_afz",
    .summary = "The nearest integer to each element, ties away from zero.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<round_nearest_afz>,
    .lowerings = {kNative<Primitive::kRoundAway>},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kRoundNearestEvenOp{
    .name = "stablehlo.round_nearest_even",
    .summary = "The nearest integer to each element, ties to even.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<round_nearest_even>,
    .lowerings = {kNative<Primitive::kRoundEven>},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
