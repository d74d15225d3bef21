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
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kA = 0.147;  // Winitzki's
  const double log = std::log1p(-magnitude * magnitude);
  const double middle = 2 / (kPi * kA) + log / 2;
  double y = std::sqrt(std::sqrt(middle * middle - log / kA) - middle);
  for (int step = 0; step < 6; ++step) {
    // The complement keeps its digits where the function is near 1.
    const double off = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    y -= off * std::sqrt(kPi) / 2 * std::exp(y * y);
  }
  return std::copysign(y, x);
}

// All fitted at Chebyshev nodes.
/// erf(x) / x over x^2 for |x| <= 1, off by less than 2^-29.
constexpr float kNearZero[] = {1.12837911F,    -0.37612626F,    0.112835854F,  -0.026853811F,
                               0.00518832728F, -8.01018905e-4F, 7.85384691e-5F};
/// -log(1 - erf(x)) for x from 1 to 4, so that erf is off by less than 2^-29; beyond, it rounds to
/// 1.
constexpr float kElsewhere[] = {3.5367740e-4F, 1.1270403F,    0.63822538F,   0.10303763F,
                                -0.021805448F, 2.9396410e-3F, -1.8557753e-4F};

Node emit_error_function(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs().apply(Primitive::kMin, x.f32(4));
  const Term near_zero = x * polynomial(magnitude * magnitude, kNearZero);
  const Term rest = (-polynomial(magnitude, kElsewhere)).apply(Primitive::kExp);
  const Term elsewhere = -rest + 1.0F;
  return select(magnitude < 1.0F, near_zero, select(x.sign_bit(), -elsewhere, elsewhere)).node;
}

/// 1 - erf(x). Where that loses no digits, so; else e^(x^2) (1 + 2x) (1 - erf(x)) is a polynomial
/// of (x - 2) / (x + 2) from 0.43 to where f32 end, off by less than 2^-28.
constexpr float kScaledFirst = 1.27697837F;
constexpr float kScaledRest[] = {-0.0927638113F,  -0.16603002F,   0.164050534F,   -0.0542249978F,
                                 -0.00802382082F, 0.00874926709F, 0.00121410482F, -0.00151744217F,
                                 -3.0893361e-4F,  2.53170321e-4F};

Node emit_complement(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs().apply(Primitive::kMin, x.f32(10.25F));
  const Term near_zero = -(x * polynomial(magnitude * magnitude, kNearZero)) + 1.0F;
  // Its upper 12 bits have an exact square; what follows them is a step along the curve, whose
  // slope is -2 / sqrt(pi) e^(-x^2), by the series of its integral.
  const Term upper =
      (magnitude.bits_as(DType::kI32) & x.i32(-4096)).bits_as(expression.dtype(operands[0]));
  const Term rest = magnitude - upper;
  const Term power = upper * 2.0F * rest;
  const Term series =
      ((power * (-1.0F / 24) + 1.0F / 6) * power - 0.5F) * power - rest * rest * (1.0F / 3) + 1.0F;
  const Term denominator = upper * 2.0F + 1.0F;
  const Term place = (upper - 2.0F) / (upper + 2.0F);
  const Term scaled = place * polynomial(place, kScaledRest) -
                      rest * series * 1.12837917F * denominator + kScaledFirst;
  const Term tail = (-(upper * upper)).apply(Primitive::kExp) * (scaled / denominator);
  return select(magnitude < 0.4375F, near_zero, select(x.sign_bit(), -tail + 2.0F, tail)).node;
}

/// The inverse over x, by w = -log(1 - x^2), as M. Giles has it (Approximating the erfinv
/// function, 2010): over w - 5/2 below 5, over sqrt(w) - 3 from there to the last f32 below 1.
/// Fitted anew, off by less than 2^-27.
constexpr float kCentral[] = {1.5014094F,    0.24664028F,    -0.0041773869F, -0.0012527419F,
                              2.1834444e-4F, -4.9633559e-6F, -3.4627055e-6F, 4.6617239e-7F,
                              2.3232710e-8F, -8.7911829e-9F};
constexpr float kTail[] = {2.83297682F,     1.00167489F,     0.00944500789F, -0.00763639063F,
                           0.00568940444F,  -0.00360164163F, 0.00147865515F, -4.86761564e-5F,
                           -3.04366578e-4F, 1.10101086e-4F};

Node emit_inverse(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term w = -((-x + 1.0F) * (x + 1.0F)).apply(Primitive::kLog);
  const Term central = polynomial(w - 2.5F, kCentral);
  const Term tail = polynomial(w.apply(Primitive::kSqrt) - 3.0F, kTail);
  const Term infinity = x.f32(std::numeric_limits<float>::infinity());
  const Term factor = select(w < 5.0F, central, tail);
  return (x * select(x.abs() == 1.0F, infinity, factor)).node;
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
