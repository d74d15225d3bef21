// The angle of a point, and that of the point (1, x).

#include "compiler/ops/arc_tangent.h"

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

double arc_tangent(double x) { return std::atan(x); }
Complex arc_tangent(Complex x) {
  const Complex turned = hyperbolic_arc_tangent({-x.imag(), x.real()});
  return {turned.imag(), -turned.real()};
}
double angle(double y, double x) { return std::atan2(y, x); }
Complex angle(Complex y, Complex x) {
  const Complex unit = (x + Complex(0, 1) * y) / std::sqrt(x * x + y * y);
  return Complex(0, -1) * std::log(unit);
}
std::int64_t no_integers(DType, std::int64_t, std::int64_t) { return 0; }

/// (atan(x) / x - 1) / x^2 over x^2, for |x| <= 1: fitted at Chebyshev nodes, off by less than
/// 2^-28.
constexpr float kArcTangent[] = {-0.333332926F, 0.199983597F,   -0.142622903F,
                                 0.109422199F,  -0.0837495103F, 0.057478942F,
                                 -0.030709004F, 0.0106667401F,  -0.00173897319F};

/// `whole`, a number of right angles, and the arc tangent of a number from -1 to 1.
Term angle_from(Term whole, Term ratio) {
  const Term square = ratio * ratio;
  const Term tail = ratio * (square * polynomial(square, kArcTangent));
  return (whole + ratio) + (tail + whole * (kPiRest / kPi));
}

Node emit_arc_tangent(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term size = x.abs();
  const Term is_steep = size > 1.0F;
  const Term ratio = select(is_steep, -size.apply(Primitive::kReciprocal), size);
  const Term whole = select(is_steep, x.f32(kPi / 2), x.f32(0));
  return with_sign_of(angle_from(whole, ratio), x).node;
}

std::vector<Tensor> expand_arc_tangent(GraphBuilder& builder, const Op&,
                                       std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  return {builder.apply(kAtan2Op, {x, x.like(1)})};
}

bool is_emitted(const Op& op, const Graph& graph) {
  return graph.type(op.operands[0]).dtype != DType::kF64;
}

Node emit_angle(Expression& expression, std::span<const Node> operands) {
  const Term y{&expression, operands[0]};
  const Term x{&expression, operands[1]};
  const Term height = y.abs(), width = x.abs();
  const Term is_steep = height > width;
  const Term quotient = select(is_steep, -x, height) / select(is_steep, height, x);
  // 0 / 0 and inf / inf have an angle of their own.
  const Term side = with_sign_of(x.f32(1), x);
  const Term of_equal = select(height != 0.0F, side, x.f32(0));
  const Term ratio = select(height == width, of_equal, quotient);
  const Term left = select(side < 0.0F, x.f32(kPi), x.f32(0));
  const Term whole = select(is_steep, x.f32(kPi / 2), left);
  return with_sign_of(angle_from(whole, ratio), y).node;
}

}  // namespace

const OpDefinition kAtanOp{
    .name = "chlo.atan",
    .summary = "The angle from -pi / 2 to pi / 2 whose tangent is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_tangent, arc_tangent>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_tangent>, is_emitted},
                  ExpandLowering{expand_arc_tangent}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};
const OpDefinition kAtan2Op{
    .name = "stablehlo.atan2",
    .summary =
        "The angle of the point (second, first) from the positive axis, by the signs of both.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<angle, no_integers, angle>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_angle>}},
    .traits = {.operands = {kFloats | kComplex, kFloats | kComplex}, .is_arithmetic = true},
};

}  // namespace superstep
