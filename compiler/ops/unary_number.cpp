// Ops on one number, float or integer.

#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

template <double (*kFloat)(double), std::int64_t (*kInteger)(std::int64_t),
          Complex (*kOfComplex)(Complex)>
std::vector<HostTensor> evaluate_number(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  if (is_float(x.type.dtype)) return evaluate_float<kFloat>(op, operands);
  if (is_complex(x.type.dtype)) return evaluate_float<kFloat, kOfComplex>(op, operands);
  return map_elements(operands, x.type.dtype, write_int,
                      [&](std::size_t i) { return kInteger(read_int(x, element_of(x, i))); });
}

std::int64_t wrapped_negation(std::int64_t x) {
  return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
}
double absolute(double x) { return std::fabs(x); }
std::int64_t absolute(std::int64_t x) { return x < 0 ? wrapped_negation(x) : x; }
double negated(double x) { return -x; }
std::int64_t negated(std::int64_t x) { return wrapped_negation(x); }
Complex negated(Complex x) { return -x; }
double squared(double x) { return x * x; }
std::int64_t squared(std::int64_t x) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
}
Complex squared(Complex x) {
  const double difference = x.real() - x.imag(), sum = x.real() + x.imag();
  // Nothing times what overflows is nothing.
  const double real = difference == 0 || sum == 0 ? 0 : difference * sum;
  return {real, 2 * (x.real() * x.imag())};
}
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
std::int64_t sign(std::int64_t x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
Complex sign(Complex x) { return x == 0.0 ? x : x / std::abs(x); }

std::vector<TensorType> infer_abs(const Op&, std::span<const TensorType> operands) {
  const TensorType& x = operands[0];
  return {{real_of(x.dtype), x.shape}};
}

std::vector<HostTensor> evaluate_abs(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  if (!is_complex(x.type.dtype)) return evaluate_number<absolute, absolute, negated>(op, operands);
  return map_elements(operands, real_of(x.type.dtype), write_float,
                      [&](std::size_t i) { return std::abs(read_complex(x, element_of(x, i))); });
}

std::vector<Node> emit_square(const Op&, const Graph&, Expression& expression,
                              std::span<const Node> operands) {
  return {expression.apply(Primitive::kMul, {operands[0], operands[0]})};
}

std::vector<Node> emit_sign(const Op&, const Graph&, Expression& expression,
                            std::span<const Node> operands) {
  const Node x = operands[0];
  const DType dtype = expression.dtype(x);
  const auto constant = [&](std::int64_t value) { return emit_number(expression, dtype, value); };
  const Node zero = constant(0);
  // Zeros of either sign and NaN are what is left; the product has the canonical NaN.
  const Node kept = is_float(dtype) ? expression.apply(Primitive::kMul, {x, constant(1)}) : x;
  const Node below = expression.apply(Primitive::kLt, {x, zero});
  const Node rest = expression.apply(Primitive::kSelect, {below, constant(-1), kept});
  const Node above = expression.apply(Primitive::kGt, {x, zero});
  return {expression.apply(Primitive::kSelect, {above, constant(1), rest})};
}

}  // namespace

const OpDefinition kAbsOp{
    .name = "stablehlo.abs",
    .summary = "Absolute value of each element; that of the lowest integer wraps to itself.",
    .infer = infer_abs,
    .evaluate = evaluate_abs,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kAbs>}},
    .traits = {.operands = {kFloats | kSignedIntegers | kComplex}},
};
const OpDefinition kNegateOp{
    .name = "stablehlo.negate",
    .summary = "Each element with its sign changed; integers wrap.",
    .infer = infer_same_type,
    .evaluate = evaluate_number<negated, negated, negated>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kNeg>}},
    .traits = {.operands = {kNumbers | kComplex}},
};
const OpDefinition kSignOp{
    .name = "stablehlo.sign",
    .summary = "-1, 0 or 1 by the sign of each element; zeros keep their sign, NaN stays.",
    .infer = infer_same_type,
    .evaluate = evaluate_number<sign, sign, sign>,
    .lowerings = {ElementwiseLowering{emit_sign}},
    .traits = {.operands = {kFloats | kSignedIntegers | kComplex}},
};
const OpDefinition kSquareOp{
    .name = "chlo.square",
    .summary = "Each element times itself.",
    .infer = infer_same_type,
    .evaluate = evaluate_number<squared, squared, squared>,
    .lowerings = {ElementwiseLowering{emit_square}},
    .traits = {.operands = {kNumbers | kComplex}, .is_arithmetic = true},
};

}  // namespace superstep
