#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double arc_sine(double x) { return std::asin(x); }
double arc_cosine(double x) { return std::acos(x); }
double arc_tangent(double x) { return std::atan(x); }
Complex arc_sine(Complex x) { return std::asin(x); }
Complex arc_cosine(Complex x) { return std::acos(x); }
Complex arc_tangent(Complex x) { return std::atan(x); }

constexpr float kPi = 3.14159274F;
constexpr float kPiRest = -8.74227766e-8F;  // pi - kPi

/// (asin(x) / x - 1) / x^2 over x^2, for |x| <= 1/2: fitted at Chebyshev nodes, off by less than
/// 2^-31.
constexpr float kArcSine[] = {0.1666666F,   0.07500511F, 0.04451572F,
                              0.031817596F, 0.01440267F, 0.03756511F};

/// |x| beyond 1/2, where the arc cosine is twice the arc sine of sqrt((1 - |x|) / 2), and the arc
/// sine of |x| or of that root.
struct Arc {
  Term is_beyond, angle;
};
Arc arc_of(Term magnitude) {
  const Term is_beyond = magnitude > 0.5F;
  const Term root = ((-magnitude + 1.0F) * 0.5F).apply(Primitive::kSqrt);
  const Term sine = select(is_beyond, root, magnitude);
  const Term square = sine * sine;
  return {is_beyond, sine + sine * (square * polynomial(square, kArcSine))};
}

Node emit_arc_sine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Arc arc = arc_of(x.abs());
  const Term beyond = x.f32(kPi / 2) - (arc.angle * 2.0F - kPiRest / 2);
  const Term y = select(arc.is_beyond, beyond, arc.angle);
  return select(x.sign_bit(), -y, y).node;
}

Node emit_arc_cosine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Arc arc = arc_of(x.abs());
  const Term is_negative = x.sign_bit();
  const Term twice = arc.angle * 2.0F;
  const Term beyond = select(is_negative, x.f32(kPi) - (twice - kPiRest), twice);
  const Term signed_angle = select(is_negative, -arc.angle, arc.angle);
  const Term within = x.f32(kPi / 2) - (signed_angle - kPiRest / 2);
  return select(arc.is_beyond, beyond, within).node;
}

std::vector<Tensor> expand_arc_tangent(GraphBuilder& builder, const Op&,
                                       std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  return {builder.apply(kAtan2Op, {x, x.like(1)})};
}

bool is_real(const Op& op, const Graph& graph) {
  return !is_complex(graph.type(op.operands[0]).dtype);
}
// Complex numbers are split before anything is emitted.
std::vector<Node> emit_complex_arc_tangent(const Op& op, const Graph&, Expression&,
                                           std::span<const Node>) {
  unsupported(op, "of complex numbers that were not split");
}

}  // namespace

const OpDefinition kAsinOp{
    .name = "chlo.asin",
    .summary = "The angle from -pi / 2 to pi / 2 whose sine is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_sine, arc_sine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_sine>}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kAcosOp{
    .name = "chlo.acos",
    .summary = "The angle from 0 to pi whose cosine is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_cosine, arc_cosine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_cosine>}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kAtanOp{
    .name = "chlo.atan",
    .summary = "The angle from -pi / 2 to pi / 2 whose tangent is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_tangent, arc_tangent>,
    .lowerings = {ExpandLowering{expand_arc_tangent, is_real},
                  ElementwiseLowering{emit_complex_arc_tangent}},
    .traits = {.operands = {kFloats | kComplex}},
};

}  // namespace superstep
