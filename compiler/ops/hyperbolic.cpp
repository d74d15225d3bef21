#include <cmath>

#include "compiler/ops/arc_tangent.h"
#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double hyperbolic_sine(double x) { return std::sinh(x); }
double hyperbolic_cosine(double x) { return std::cosh(x); }
double arc_sine(double x) { return std::asinh(x); }
double arc_cosine(double x) { return std::acosh(x); }
double arc_tangent(double x) { return std::atanh(x); }
Complex hyperbolic_sine(Complex x) { return std::sinh(x); }
Complex hyperbolic_cosine(Complex x) { return std::cosh(x); }
Complex arc_sine(Complex x) { return std::asinh(x); }
Complex arc_cosine(Complex x) { return std::acosh(x); }
Complex arc_tangent(Complex x) { return hyperbolic_arc_tangent(x); }

/// (sinh(x) / x - 1) / x^2 over x^2, for |x| <= 9/4: fitted at Chebyshev nodes, off by less than
/// 2^-29.
constexpr float kSine[] = {0.166666672F, 0.00833331048F, 0.000198438836F, 2.74385366e-06F,
                           2.7379194e-08F};
/// (arsinh(x) / x - 1) / x^2 over x^2, for |x| <= 1/2: likewise, off by less than 2^-29.
constexpr float kArcSine[] = {-0.166666418F, 0.0749859139F, -0.0443776622F, 0.0281379558F,
                              -0.0131880408F};
/// (atanh(x) / x - 1) / x^2 over x^2, for |x| <= 0.77: likewise, off by less than 2^-27.
constexpr float kArcTangent[] = {0.33333227F,   0.200084507F, 0.14054057F,  0.142275438F,
                                 -0.146843404F, 1.17777908F,  -3.10005975F, 5.6246376F,
                                 -5.48458862F,  2.50834918F};
/// (arcosh(1 + x) / sqrt(2 x) - 1) / x, for x <= 9/16: likewise, off by less than 2^-28.
constexpr float kArcCosine[] = {-0.0833331272F, 0.0187447518F, -0.00553608034F, 0.00173071923F,
                                -0.000388249813F};
constexpr float kLogOfTwo = 0.693147182F;
/// From here on the square of a number plus 1 is its square.
constexpr float kLarge = 0x1p60F;

/// e^|x| / 2 as a sum, and e^-|x| / 2.
struct Powers {
  Sum up;
  Term down;
};
Powers powers_of(Term magnitude) {
  // The logarithm of 17/8 and some more, a multiple of the last bit of the greatest sizes, so that
  // their differences are exact. The power is below what it is a part of, and so is its last bit.
  constexpr float kLess = 98799 * 0x1p-17F;
  constexpr float kMore = 0.062505044F;  // e^kLess / 2 - 1
  const Term power = (magnitude - kLess).apply(Primitive::kExp);
  const Term rest = power * kMore;
  return {{power, rest}, (power + rest).apply(Primitive::kReciprocal) * 0.25F};
}

Node emit_sine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs(), square = x * x;
  const Term near_zero = x + x * (square * polynomial(square, kSine));
  const Powers powers = powers_of(magnitude);
  const Term elsewhere = powers.up.high + (powers.up.low - powers.down);
  return select(magnitude < 1.5F, near_zero, with_sign_of(elsewhere, x)).node;
}

Node emit_cosine(Expression& expression, std::span<const Node> operands) {
  const Powers powers = powers_of(Term{&expression, operands[0]}.abs());
  return (powers.up.high + (powers.down + powers.up.low)).node;
}

Node emit_arc_sine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  const Term is_large = magnitude > kLarge;
  const Term m = select(is_large, x.f32(1), magnitude);
  const Term square = m * m;
  const Term near = magnitude + magnitude * (square * polynomial(square, kArcSine));
  const Term y = log_plus_one(m + square / ((square + 1.0F).apply(Primitive::kSqrt) + 1.0F));
  const Term large = magnitude.apply(Primitive::kLog) + kLogOfTwo;
  const Term far = select(is_large, large, y);
  return with_sign_of(select(magnitude < 0.5F, near, far), x).node;
}

Node emit_arc_cosine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term above = x - 1.0F;
  const Sum root = square_root(above + above);
  const Term near =
      root.high + (root.low + (root.high + root.low) * (above * polynomial(above, kArcCosine)));
  const Term is_large = x > kLarge;
  const Term sum = x + (above * (x + 1.0F)).apply(Primitive::kSqrt);
  const Term log = select(is_large, x, sum).apply(Primitive::kLog);
  const Term far = log + select(is_large, x.f32(kLogOfTwo), x.f32(0));
  return select(above > 0.5625F, far, near).node;
}

Node emit_arc_tangent(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs(), square = x * x;
  const Term near_zero = x + x * (square * polynomial(square, kArcTangent));
  const Term ratio = (magnitude + 1.0F) / (-magnitude + 1.0F);
  const Term elsewhere = ratio.apply(Primitive::kLog) * 0.5F;
  return select(magnitude < 0.77F, near_zero, with_sign_of(elsewhere, x)).node;
}

}  // namespace

const OpDefinition kSinhOp{
    .name = "chlo.sinh",
    .summary = "Hyperbolic sine of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<hyperbolic_sine, hyperbolic_sine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_sine>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};
const OpDefinition kCoshOp{
    .name = "chlo.cosh",
    .summary = "Hyperbolic cosine of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<hyperbolic_cosine, hyperbolic_cosine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_cosine>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};
const OpDefinition kAsinhOp{
    .name = "chlo.asinh",
    .summary = "The number whose hyperbolic sine is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_sine, arc_sine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_sine>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};
const OpDefinition kAcoshOp{
    .name = "chlo.acosh",
    .summary = "The number from 0 on whose hyperbolic cosine is each element; NaN below 1.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_cosine, arc_cosine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_cosine>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};
const OpDefinition kAtanhOp{
    .name = "chlo.atanh",
    .summary = "The number whose hyperbolic tangent is each element; NaN outside of -1 to 1.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_tangent, arc_tangent>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_tangent>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};

}  // namespace superstep
