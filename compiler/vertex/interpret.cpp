#include "compiler/vertex/interpret.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "compiler/vertex/number.h"

namespace superstep::vertex {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// IEEE 754-2019 minimum and maximum: NaN wins, and -0 is below +0.
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNaN;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double maximum(double a, double b) { return -minimum(-a, -b); }

double float_result(Primitive primitive, double a, double b) {
  switch (primitive) {
    case Primitive::kAdd:
      return a + b;
    case Primitive::kSub:
      return a - b;
    case Primitive::kMul:
      return a * b;
    case Primitive::kDiv:
      return a / b;
    case Primitive::kMin:
      return minimum(a, b);
    case Primitive::kMax:
      return maximum(a, b);
    case Primitive::kNeg:
      return -a;
    case Primitive::kAbs:
      return std::fabs(a);
    case Primitive::kRem:
      return std::fmod(a, b);
    case Primitive::kExp:
      return std::exp(a);
    case Primitive::kLog:
      return std::log(a);
    case Primitive::kSqrt:
      return std::sqrt(a);
    case Primitive::kRsqrt:
      return 1 / std::sqrt(a);
    case Primitive::kReciprocal:
      return 1 / a;
    case Primitive::kTanh:
      return std::tanh(a);
    case Primitive::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case Primitive::kFloor:
      return std::floor(a);
    case Primitive::kCeil:
      return std::ceil(a);
    case Primitive::kRoundEven:
      return std::nearbyint(a);
    case Primitive::kRoundAway:
      return std::round(a);
    case Primitive::kTruncate:
      return std::trunc(a);
    default:
      SUPERSTEP_CHECK(false, "no such primitive on floats");
      return kNaN;
  }
}

std::int64_t shifted(Primitive primitive, DType dtype, std::int64_t a, std::int64_t b) {
  const auto width = static_cast<std::int64_t>(8 * size_of(dtype));
  const auto amount = static_cast<std::uint64_t>(bits_of_int(dtype, b));
  const bool beyond = amount >= static_cast<std::uint64_t>(width);
  if (primitive == Primitive::kShl) return beyond ? 0 : a << amount;
  if (primitive == Primitive::kShrLogical) {
    return beyond ? 0 : static_cast<std::int64_t>(bits_of_int(dtype, a) >> amount);
  }
  const std::int64_t filled =
      static_cast<std::int64_t>(bits_of_int(dtype, a) << (64 - width)) >> (64 - width);
  return filled >> (beyond ? std::uint64_t{63} : amount);
}

std::int64_t int_result(Primitive primitive, DType dtype, std::int64_t a, std::int64_t b) {
  switch (primitive) {
    case Primitive::kAdd:
      return a + b;
    case Primitive::kSub:
      return a - b;
    case Primitive::kMul:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) *
                                       static_cast<std::uint64_t>(b));
    case Primitive::kDiv:
      return b == 0 ? -1 : a / b;
    case Primitive::kRem:
      return b == 0 ? a : a % b;
    case Primitive::kMin:
      return a < b ? a : b;
    case Primitive::kMax:
      return a < b ? b : a;
    case Primitive::kNeg:
      return -a;
    case Primitive::kAbs:
      return a < 0 ? -a : a;
    case Primitive::kAnd:
      return a & b;
    case Primitive::kOr:
      return a | b;
    case Primitive::kXor:
      return a ^ b;
    case Primitive::kNot:
      return ~a;
    case Primitive::kShl:
    case Primitive::kShrLogical:
    case Primitive::kShrArithmetic:
      return shifted(primitive, dtype, a, b);
    case Primitive::kClz:
      return std::countl_zero(bits_of_int(dtype, a)) -
             (64 - static_cast<std::int64_t>(8 * size_of(dtype)));
    case Primitive::kPopcount:
      return std::popcount(bits_of_int(dtype, a));
    default:
      SUPERSTEP_CHECK(false, "no such primitive on integers");
      return 0;
  }
}

std::uint64_t bits_at(const HostTensor& tensor, std::size_t element) {
  const std::size_t size = size_of(tensor.type.dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data() + element * size, size);
  return bits;
}

std::uint64_t function_result(const Expression& function, std::uint64_t argument);

std::uint64_t step_result(const Expression& expression, const Expression::Step& step,
                          const std::vector<std::uint64_t>& values) {
  const std::vector<Expression::Step>& steps = expression.steps();
  const auto bits = [&](std::size_t i) {
    return i < step.operands.size() ? values[step.operands[i]] : 0;
  };
  const DType from = steps[step.operands[0]].dtype;
  switch (step.primitive) {
    case Primitive::kSelect:
      return bits(0) != 0 ? bits(1) : bits(2);
    case Primitive::kCallWhere:
      return bits(0) != 0 ? function_result(expression.functions()[step.bits], bits(2)) : bits(1);
    case Primitive::kConvert:
      return convert_bits(from, step.dtype, bits(0));
    case Primitive::kBitcast:
      return bits(0);
    case Primitive::kIsFinite:
      return std::isfinite(float_of(from, bits(0))) ? 1 : 0;
    case Primitive::kEq:
    case Primitive::kNe:
    case Primitive::kLt:
    case Primitive::kLe:
    case Primitive::kGt:
    case Primitive::kGe:
      if (is_float(from)) {
        return holds(step.primitive, float_of(from, bits(0)), float_of(from, bits(1))) ? 1 : 0;
      }
      return holds(step.primitive, int_of(from, bits(0)), int_of(from, bits(1))) ? 1 : 0;
    default:
      break;
  }
  if (is_float(from)) {
    const double second = step.operands.size() > 1 ? float_of(from, bits(1)) : 0;
    return bits_of_float(from, float_result(step.primitive, float_of(from, bits(0)), second));
  }
  return bits_of_int(
      from, int_result(step.primitive, from, int_of(from, bits(0)), int_of(from, bits(1))));
}

std::uint64_t function_result(const Expression& function, std::uint64_t argument) {
  std::vector<std::uint64_t> values;
  for (const Expression::Step& step : function.steps()) {
    if (step.primitive == Primitive::kConstant) {
      values.push_back(step.bits);
    } else {
      values.push_back(step.primitive == Primitive::kInput ? argument
                                                           : step_result(function, step, values));
    }
  }
  return values.back();
}

}  // namespace

HostTensor evaluate_expression(const Expression& expression, Node output,
                               std::span<const HostTensor> inputs) {
  Shape shape;
  for (const HostTensor& input : inputs) {
    if (!input.type.shape.empty()) shape = input.type.shape;
  }
  HostTensor result(TensorType{expression.dtype(output), shape});
  const std::vector<Expression::Step>& steps = expression.steps();
  std::vector<std::uint64_t> values(steps.size());
  for (std::size_t element = 0; element < static_cast<std::size_t>(result.type.elements());
       ++element) {
    for (std::size_t i = 0; i <= output.id; ++i) {
      const Expression::Step& step = steps[i];
      if (step.primitive == Primitive::kConstant) {
        values[i] = step.bits;
      } else if (step.primitive == Primitive::kInput) {
        const HostTensor& input = inputs[step.bits];
        values[i] = bits_at(input, input.type.shape.empty() ? 0 : element);
      } else {
        values[i] = step_result(expression, step, values);
      }
    }
    const std::size_t size = size_of(result.type.dtype);
    std::memcpy(result.data.data() + element * size, &values[output.id], size);
  }
  return result;
}

}  // namespace superstep::vertex
