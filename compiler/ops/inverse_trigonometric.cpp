#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;

double arc_sine(double x) { return std::asin(x); }
double arc_cosine(double x) { return std::acos(x); }
Complex arc_sine(Complex x) { return std::asin(x); }
Complex arc_cosine(Complex x) { return std::acos(x); }

/// (asin(x) / x - 1) / x^2 over x^2, for |x| <= 1/2: fitted at Chebyshev nodes, off by less than
/// 2^-31.
constexpr float kArcSine[] = {0.1666666F,   0.07500511F, 0.04451572F,
                              0.031817596F, 0.01440267F, 0.03756511F};

/// |x| beyond 1/2, where the arc cosine of |x| is twice the arc sine of the root of
/// (1 - |x|) / 2; `tail` is what the arc sine of |x|, or of that root, is more than that number.
struct Arc {
  Term is_beyond;
  Sum root;
  Term tail;
};
Arc arc_of(Term magnitude) {
  const Term is_beyond = magnitude > 0.5F;
  const Term rest = magnitude * -0.5F + 0.5F;
  const Sum root = square_root(rest);
  const Term square = select(is_beyond, rest, magnitude * magnitude);
  const Term factor = square * polynomial(square, kArcSine);
  return {is_beyond, root, select(is_beyond, root.high + root.low, magnitude) * factor};
}

Node emit_arc_sine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Term magnitude = x.abs();
  const Arc arc = arc_of(magnitude);
  const Term rest = arc.root.low + arc.tail;
  // pi / 2 less what has 12 bits loses little.
  const Term beyond = (-(arc.root.high * 2.0F) + kPi / 2) - (rest * 2.0F - kPiRest / 2);
  const Term y = select(arc.is_beyond, beyond, magnitude + arc.tail);
  return with_sign_of(y, x).node;
}

Node emit_arc_cosine(Expression& expression, std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const Arc arc = arc_of(x.abs());
  const Term high = arc.root.high * 2.0F, low = (arc.root.low + arc.tail) * 2.0F;
  const Term obtuse = (-high + kPi) - (low - kPiRest);
  const Term beyond = select(x < 0.0F, obtuse, high + low);
  const Term within = -(x + (with_sign_of(arc.tail, x) - kPiRest / 2)) + kPi / 2;
  return select(arc.is_beyond, beyond, within).node;
}

}  // namespace

const OpDefinition kAsinOp{
    .name = "chlo.asin",
    .summary = "The angle from -pi / 2 to pi / 2 whose sine is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_sine, arc_sine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_sine>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};
const OpDefinition kAcosOp{
    .name = "chlo.acos",
    .summary = "The angle from 0 to pi whose cosine is each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<arc_cosine, arc_cosine>,
    .lowerings = {ElementwiseLowering{emit_in_f32<emit_arc_cosine>}},
    .traits = {.operands = {kFloats | kComplex}, .is_arithmetic = true},
};

}  // namespace superstep
