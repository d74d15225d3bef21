#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"
#include "compiler/vertex/number.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;

/// The neighbour of an f16 or bf16 on the way to another one.
double next_short(DType dtype, double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  if (x == y) return y;
  const bool is_half = dtype == DType::kF16;
  const int least_exponent = is_half ? -14 : -126, fraction_bits = is_half ? 10 : 7;
  const bool grows = y > x;
  // Above infinity and below it there is nothing: the largest number is next to it.
  const double largest = is_half ? 65504.0 : 0x1.fep127;
  if (std::isinf(x)) return grows ? -largest : largest;
  int exponent = x == 0 ? least_exponent : std::max(std::ilogb(x), least_exponent);
  // Below a power of two numbers are half as far apart.
  const bool is_power = std::abs(x) == std::ldexp(1.0, exponent);
  if (is_power && grows == (x < 0) && exponent > least_exponent) --exponent;
  const double next = x + std::ldexp(grows ? 1.0 : -1.0, exponent - fraction_bits);
  return next == 0 ? std::copysign(0.0, x) : next;
}

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const HostTensor& y = operands[1];
  return map_elements(operands, x.type.dtype, write_float, [&](std::size_t i) {
    const double from = read_float(x, element_of(x, i)), to = read_float(y, element_of(y, i));
    if (is_short_float(x.type.dtype)) return next_short(x.type.dtype, from, to);
    if (x.type.dtype == DType::kF64) return std::nextafter(from, to);
    return static_cast<double>(std::nextafterf(static_cast<float>(from), static_cast<float>(to)));
  });
}

/// A float's magnitude is one more or less as an integer.
std::vector<Node> emit(const Op&, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const Term x{&expression, operands[0]}, y{&expression, operands[1]};
  const DType dtype = expression.dtype(x.node);
  const bool half = is_short_float(dtype);
  const DType integer = half ? DType::kI16 : DType::kI32;
  const auto number = [&](std::uint32_t bits) {
    return Term{&expression, expression.constant(integer, bits)};
  };
  const Term zero = number(0), one = number(1), sign = number(half ? 0x8000 : 0x80000000);
  const Term magnitude = number(half ? 0x7fff : 0x7fffffff);
  const Term from = x.bits_as(integer), to = y.bits_as(integer);
  const Term size = from & magnitude;
  const Term shrinks = (size > (to & magnitude)) | ((from ^ to) < zero);
  const Term moved = select(shrinks, from - one, from + one);
  const Term next = select(size == zero, (to & sign) | one, moved);
  const Term nan{&expression,
                 expression.constant(dtype, vertex::bits_of_float(
                                                dtype, std::numeric_limits<double>::quiet_NaN()))};
  const Term number_or_nan = select(x.is_nan() | y.is_nan(), nan, next.bits_as(dtype));
  return {select(x == y, y, number_or_nan).node};
}

}  // namespace

const OpDefinition kNextAfterOp{
    .name = "chlo.next_after",
    .summary = "The number next to the first operand towards the second; where equal, the second.",
    .infer = infer_same_type,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kFloats, kFloats}},
};

}  // namespace superstep
