// Arithmetic on two numbers of one type.

#include <algorithm>
#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }
double divide(double a, double b) { return a / b; }
double remainder(double a, double b) { return std::fmod(a, b); }

// IEEE 754-2019 maximum and minimum: a NaN wins, +0 is above -0.
double maximum(double a, double b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return std::max(a, b);
}
double minimum(double a, double b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return std::min(a, b);
}

Complex add(Complex a, Complex b) { return a + b; }
Complex subtract(Complex a, Complex b) { return a - b; }
Complex multiply(Complex a, Complex b) { return a * b; }
Complex divide(Complex a, Complex b) { return a / b; }

// By the real parts, equal ones by the imaginary parts.
bool is_below(Complex a, Complex b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
Complex maximum(Complex a, Complex b) { return is_below(a, b) ? b : a; }
Complex minimum(Complex a, Complex b) { return is_below(b, a) ? b : a; }

std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::int64_t wrapped(std::uint64_t x) { return static_cast<std::int64_t>(x); }
bool is_below(DType dtype, std::int64_t a, std::int64_t b) {
  return is_signed(dtype) ? a < b : bits(a) < bits(b);
}

// On booleans the sum is OR and the product AND.
std::int64_t add(DType dtype, std::int64_t a, std::int64_t b) {
  return dtype == DType::kI1 ? a | b : wrapped(bits(a) + bits(b));
}
std::int64_t subtract(DType, std::int64_t a, std::int64_t b) { return wrapped(bits(a) - bits(b)); }
std::int64_t multiply(DType, std::int64_t a, std::int64_t b) { return wrapped(bits(a) * bits(b)); }
// Division by zero is open in StableHLO; XLA gives -1 (all ones) and the dividend.
std::int64_t divide(DType dtype, std::int64_t a, std::int64_t b) {
  if (b == 0) return -1;
  if (!is_signed(dtype)) return wrapped(bits(a) / bits(b));
  return b == -1 ? wrapped(0 - bits(a)) : a / b;
}
std::int64_t remainder(DType dtype, std::int64_t a, std::int64_t b) {
  if (b == 0) return a;
  if (!is_signed(dtype)) return wrapped(bits(a) % bits(b));
  return b == -1 ? 0 : a % b;
}
std::int64_t maximum(DType dtype, std::int64_t a, std::int64_t b) {
  return is_below(dtype, a, b) ? b : a;
}
std::int64_t minimum(DType dtype, std::int64_t a, std::int64_t b) {
  return is_below(dtype, a, b) ? a : b;
}

template <Primitive kNumber, Primitive kBoolean>
std::vector<Node> emit(const Op&, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const bool boolean = expression.dtype(operands[0]) == DType::kI1;
  return {expression.apply(boolean ? kBoolean : kNumber, {operands[0], operands[1]})};
}

template <Primitive kPrimitive>
std::vector<Node> emit_division(const Op& op, const Graph& graph, Expression& expression,
                                std::span<const Node> operands) {
  if (is_float(expression.dtype(operands[0]))) {
    return emit_in_f32<primitive_formula<kPrimitive>>(op, graph, expression, operands);
  }
  return emit_primitive<kPrimitive>(op, graph, expression, operands);
}

}  // namespace

const OpDefinition kAddOp{
    .name = "stablehlo.add",
    .summary = "Sum of two elements; OR of booleans.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<add, add, add>,
    .lowerings = {ElementwiseLowering{emit<Primitive::kAdd, Primitive::kOr>}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .is_arithmetic = true},
};
const OpDefinition kSubtractOp{
    .name = "stablehlo.subtract",
    .summary = "Difference of two elements.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<subtract, subtract, subtract>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kSub>}},
    .traits = {.operands = {kNumbers | kComplex, kNumbers | kComplex}, .is_arithmetic = true},
};
const OpDefinition kMultiplyOp{
    .name = "stablehlo.multiply",
    .summary = "Product of two elements; AND of booleans.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<multiply, multiply, multiply>,
    .lowerings = {ElementwiseLowering{emit<Primitive::kMul, Primitive::kAnd>}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .is_arithmetic = true},
};
const OpDefinition kDivideOp{
    .name = "stablehlo.divide",
    .summary = "Quotient of two elements; integers round towards zero, x / 0 is -1 (all ones).",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<divide, divide, divide>,
    .lowerings = {ElementwiseLowering{emit_division<Primitive::kDiv>}},
    .traits = {.operands = {kNumbers | kComplex, kNumbers | kComplex}, .is_arithmetic = true},
};
const OpDefinition kRemainderOp{
    .name = "stablehlo.remainder",
    .summary = "Remainder of two elements, with the sign of the dividend; integer x % 0 is x.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<remainder, remainder>,
    .lowerings = {ElementwiseLowering{emit_division<Primitive::kRem>}},
    .traits = {.operands = {kNumbers, kNumbers}, .is_arithmetic = true},
};
const OpDefinition kMaximumOp{
    .name = "stablehlo.maximum",
    .summary = "The larger of two elements, NaN if one is NaN; OR of booleans.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<maximum, maximum, maximum>,
    .lowerings = {ElementwiseLowering{emit<Primitive::kMax, Primitive::kOr>}},
    .traits = {.operands = {kAnyDType, kAnyDType}},
};
const OpDefinition kMinimumOp{
    .name = "stablehlo.minimum",
    .summary = "The smaller of two elements, NaN if one is NaN; AND of booleans.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<minimum, minimum, minimum>,
    .lowerings = {ElementwiseLowering{emit<Primitive::kMin, Primitive::kAnd>}},
    .traits = {.operands = {kAnyDType, kAnyDType}},
};

}  // namespace superstep
