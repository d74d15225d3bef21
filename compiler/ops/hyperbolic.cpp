#include <cmath>

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
Complex arc_tangent(Complex x) { return std::atanh(x); }

/// (sinh(x) / x - 1) / x^2 over x^2, for |x| <= 2: fitted at Chebyshev nodes, off by less than
/// 2^-31.
constexpr float kSine[] = {0.16666667F, 0.0083333198F, 1.9842861e-4F, 2.7474855e-6F, 2.6966534e-8F};
constexpr float kLogOfTwo = 0.693147182F;
/// From here on the square of a number plus 1 is its square.
constexpr float kLarge = 0x1p60F;

/// e^|x| / 2 and e^-|x| / 2, from the half of x, whose power does not overflow where they do not.
struct Powers {
  Term up, down;
};
Powers powers_of(Term magnitude) {
  const Term root = (magnitude * 0.5F).apply(Primitive::kExp);
  return {(root * 0.5F) * root, (root.f32(0.5F) / root) / root};
}

Node emit_sine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  const Powers powers = powers_of(magnitude);
  const Term square = x * x;
  const Term near_zero = x + x * (square * polynomial(square, kSine));
  const Term elsewhere = powers.up - powers.down;
  return select(magnitude < 2.0F, near_zero, select(x.sign_bit(), -elsewhere, elsewhere)).node;
}

Node emit_cosine(Expression& expression, std::span<const Node> operands) {
  const Powers powers = powers_of(Term{&expression, operands[0]}.abs());
  return (powers.up + powers.down).node;
}

Node emit_arc_sine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  const Term is_large = magnitude > kLarge;
  const Term m = select(is_large, x.f32(1), magnitude);
  const Term square = m * m;
  const Term y = log_plus_one(m + square / ((square + 1.0F).apply(Primitive::kSqrt) + 1.0F));
  const Term large = magnitude.apply(Primitive::kLog) + kLogOfTwo;
  const Term result = select(is_large, large, y);
  return select(x.sign_bit(), -result, result).node;
}

Node emit_arc_cosine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term is_large = x > kLarge;
  const Term above = select(is_large, x.f32(1), x) - 1.0F;
  const Term y = log_plus_one(above + (above * 2.0F + above * above).apply(Primitive::kSqrt));
  const Term no_number = Term{&expression, expression.constant(DType::kF32, 0x7fc00000)};
  const Term large = x.apply(Primitive::kLog) + kLogOfTwo;
  return select(x < 1.0F, no_number, select(is_large, large, y)).node;
}

Node emit_arc_tangent(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  const Term y = log_plus_one((magnitude * 2.0F) / (-magnitude + 1.0F)) * 0.5F;
  return select(x.sign_bit(), -y, y).node;
}

}  // namespace

const OpDefinition kSinhOp{
    .name = "chlo.sinh",
    .summary = "Hyperbolic sine of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<hyperbolic_sine, hyperbolic_sine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_sine>}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kCoshOp{
    .name = "chlo.cosh",
    .summary = "Hyperbolic cosine of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<hyperbolic_cosine, hyperbolic_cosine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_cosine>}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kAsinhOp{
    .name = "chlo.asinh",
    .summary = "The number whose hyperbolic sine is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_sine, arc_sine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_sine>}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kAcoshOp{
    .name = "chlo.acosh",
    .summary = "The number from 0 on whose hyperbolic cosine is each element; NaN below 1.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_cosine, arc_cosine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_cosine>}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kAtanhOp{
    .name = "chlo.atanh",
    .summary = "The number whose hyperbolic tangent is each element; NaN outside of -1 to 1.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_tangent, arc_tangent>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_tangent>}},
    .traits = {.operands = {kFloats | kComplex}},
};

}  // namespace superstep
