#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double arc_tangent(double y, double x) { return std::atan2(y, x); }
Complex arc_tangent(Complex y, Complex x) {
  const Complex unit = (x + Complex(0, 1) * y) / std::sqrt(x * x + y * y);
  return Complex(0, -1) * std::log(unit);
}
std::int64_t no_integers(DType, std::int64_t, std::int64_t) { return 0; }

/// atan(x) / x - 1 over x^2, for |x| <= tan(pi / 8): fitted by least squares at Chebyshev nodes,
/// off by less than 2^-28.
constexpr float kArcTangent[] = {-0.3333333F, 0.1999955F, -0.1426423F, 0.1074627F, -0.064592816F};
constexpr float kTangentOfEighth = 0.41421357F;  // tan(pi / 8)
constexpr float kPi = 3.14159274F;
constexpr float kPiRest = -8.74227766e-8F;  // pi - kPi

Node emit(Expression& expression, std::span<const Node> operands) {
  const Term y{&expression, operands[0]};
  const Term x{&expression, operands[1]};
  const Term height = y.abs();
  const Term width = x.abs();
  const Term large = height.apply(Primitive::kMax, width);
  const Term small = height.apply(Primitive::kMin, width);
  // 0 / 0 and inf / inf have an angle of their own.
  const Term equal = select(large == 0.0F, large, large.f32(1));
  const Term ratio = select(small == large, equal, small / large);

  const Term steep = ratio > kTangentOfEighth;
  const Term t = select(steep, (ratio - 1.0F) / (ratio + 1.0F), ratio);
  const Term z = t * t;
  const Term arc = t + t * (z * polynomial(z, kArcTangent));
  const Term octant = select(steep, arc + (kPiRest / 4) + kPi / 4, arc);
  const Term quadrant = select(height > width, x.f32(kPi / 2) - (octant - kPiRest / 2), octant);
  const Term angle = select(x.sign_bit(), x.f32(kPi) - (quadrant - kPiRest), quadrant);
  return select(y.sign_bit(), -angle, angle).node;
}

}  // namespace

const OpDefinition kAtan2Op{
    .name = "stablehlo.atan2",
    .summary =
        "The angle of the point (second, first) from the positive axis, by the signs of both.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<arc_tangent, no_integers, arc_tangent>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit>}},
    .traits = {.operands = {kFloats | kComplex, kFloats | kComplex}},
};

}  // namespace superstep
