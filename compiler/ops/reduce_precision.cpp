#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "compiler/import/parser.h"
#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;

/// Bits of exponent and fraction.
struct Format {
  std::int64_t exponent, fraction;

  [[nodiscard]] std::int64_t bias() const { return (std::int64_t{1} << (exponent - 1)) - 1; }
};

Format format_of(DType dtype) {
  if (dtype == DType::kF64) return {11, 52};
  if (dtype == DType::kF16) return {5, 10};
  return dtype == DType::kBF16 ? Format{8, 7} : Format{8, 23};
}

/// What an op reduces to, no more than there is.
Format reduced_format(const Op& op, DType dtype) {
  const Format all = format_of(dtype);
  return {std::min(attribute<std::int64_t>(op, "exponent_bits"), all.exponent),
          std::min(attribute<std::int64_t>(op, "mantissa_bits"), all.fraction)};
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const std::int64_t exponent = attribute<std::int64_t>(op, "exponent_bits");
  const std::int64_t fraction = attribute<std::int64_t>(op, "mantissa_bits");
  if (exponent < 1) malformed(op, fmt::format("exponent_bits {} is less than 1", exponent));
  if (fraction < 0) malformed(op, fmt::format("mantissa_bits {} is negative", fraction));
  return {operands[0]};
}

double reduced(double x, DType dtype, const Format& to) {
  const Format all = format_of(dtype);
  if (std::isnan(x)) return to.fraction > 0 ? x : std::numeric_limits<double>::infinity();
  if (x == 0 || std::isinf(x)) return x;
  const int exponent = std::max(std::ilogb(x), static_cast<int>(1 - all.bias()));
  const double unit = std::ldexp(1.0, exponent - static_cast<int>(to.fraction));
  double units = std::nearbyint(x / unit);
  // Ties go to even bits: without a fraction the last one is that of the exponent.
  const bool is_even = (exponent + all.bias()) % 2 == 0;
  if (to.fraction == 0 && std::abs(x / unit) == 1.5) units = std::copysign(is_even ? 1 : 2, x);
  const double rounded = units * unit;
  if (to.exponent == all.exponent) return rounded;
  const int largest = static_cast<int>(to.bias());
  const double magnitude = std::abs(rounded);
  if (magnitude >= std::ldexp(1.0, largest + 1)) {
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  }
  return magnitude < std::ldexp(1.0, 1 - largest) ? std::copysign(0.0, x) : rounded;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const DType dtype = x.type.dtype;
  const Format to = reduced_format(op, dtype);
  return map_elements(operands, dtype, write_float, [&](std::size_t i) {
    return reduced(read_float(x, element_of(x, i)), dtype, to);
  });
}

/// On the bits: a carry out of the fraction is one into the exponent.
std::vector<Node> emit(const Op& op, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const Term x{&expression, operands[0]};
  const DType dtype = expression.dtype(x.node);
  const Format all = format_of(dtype), to = reduced_format(op, dtype);
  const DType integer = is_short_float(dtype) ? DType::kI16 : DType::kI32;
  const auto number = [&](std::int64_t value) {
    return Term{&expression, emit_number(expression, integer, value)};
  };
  const std::int64_t sign_bit = std::int64_t{1} << (all.exponent + all.fraction);
  const std::int64_t exponent_bits = sign_bit - (std::int64_t{1} << all.fraction);
  Term bits = x.bits_as(integer);
  if (to.fraction < all.fraction) {
    const std::int64_t dropped = all.fraction - to.fraction, last = std::int64_t{1} << dropped;
    const Term is_odd =
        (bits & number(last)).apply(vertex::Primitive::kShrLogical, number(dropped));
    bits = (bits + (is_odd + number(last / 2 - 1))) & number(-last);
  }
  if (to.exponent < all.exponent) {
    const Term sign = bits & number(-sign_bit), exponent = bits & number(exponent_bits);
    const Term too_large = exponent > number((all.bias() + to.bias()) << all.fraction);
    const Term is_normal = exponent > number((all.bias() - to.bias()) << all.fraction);
    bits = select(too_large, sign | number(exponent_bits), select(is_normal, bits, sign));
  }
  const Term infinity = number(exponent_bits).bits_as(dtype);
  return {select(x.is_nan(), to.fraction > 0 ? x : infinity, bits.bits_as(dtype)).node};
}

// `%x, format = e5m10 : …`.
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  if (parser.token().is('(')) return parser.parse_usual(op);
  op.operands.push_back(parser.parse_value());
  parser.expect(',', "behind the operand");
  if (!parser.accept_word("format")) parser.fail("expected `format`, found " + parser.found());
  parser.expect('=', "behind `format`");
  const std::string_view word = parser.token().text;
  const char* const end = word.data() + word.size();
  std::int64_t exponent = 0, fraction = 0;
  // Behind the letter and its number; null where they are not there.
  const auto read = [end](const char* at, char letter, std::int64_t& bits) -> const char* {
    if (at == nullptr || at == end || *at != letter) return nullptr;
    const auto [behind, error] = std::from_chars(at + 1, end, bits);
    return error == std::errc() ? behind : nullptr;
  };
  if (read(read(word.data(), 'e', exponent), 'm', fraction) != end) {
    parser.fail("expected a format such as e5m10, found " + parser.found());
  }
  parser.advance();
  op.attributes.insert_or_assign("exponent_bits", exponent);
  op.attributes.insert_or_assign("mantissa_bits", fraction);
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

const OpDefinition kReducePrecisionOp{
    .name = "stablehlo.reduce_precision",
    .summary = "Each element rounded to fewer bits of exponent and fraction, in its own dtype.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kFloats}},
    .syntax = {.parse = parse},
    .attributes = "exponent_bits mantissa_bits",
};

}  // namespace superstep
