#include "compiler/ops/compare.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/elementwise.h"
#include "compiler/ops/formula.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;
using vertex::Primitive;

struct Direction {
  std::string_view name;
  Primitive primitive;
  bool if_less, if_equal, if_greater, if_unordered;
};
constexpr std::array kDirections = {
    Direction{"EQ", Primitive::kEq, false, true, false, false},
    Direction{"NE", Primitive::kNe, true, false, true, true},
    Direction{"LT", Primitive::kLt, true, false, false, false},
    Direction{"LE", Primitive::kLe, true, true, false, false},
    Direction{"GT", Primitive::kGt, false, false, true, false},
    Direction{"GE", Primitive::kGe, false, true, true, false},
};

const Direction& direction_of(const Op& op) {
  const std::string& name = attribute<std::string>(op, "comparison_direction");
  for (const Direction& direction : kDirections) {
    if (direction.name == name) return direction;
  }
  malformed(op, fmt::format("comparison_direction {} is not one of EQ, NE, LT, LE, GT, GE", name));
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands[0] != operands[1]) {
    malformed(op, fmt::format("operands have types {} and {}, expected equal ones",
                              operands[0].text(), operands[1].text()));
  }
  const Direction& direction = direction_of(op);
  if (is_complex(operands[0].dtype) && direction.name != "EQ" && direction.name != "NE") {
    malformed(op, fmt::format("complex numbers have no order; found {}, expected EQ or NE",
                              direction.name));
  }
  if (op.attributes.contains("compare_type")) {
    const std::string& type = attribute<std::string>(op, "compare_type");
    const DType dtype = operands[0].dtype;
    const bool fits = is_complex(dtype)  ? type == "FLOAT"
                      : is_float(dtype)  ? type == "FLOAT" || type == "TOTALORDER"
                      : is_signed(dtype) ? type == "SIGNED"
                                         : type == "UNSIGNED";
    if (!fits && type != "NOTYPE") {
      malformed(op, fmt::format("compare_type {} does not fit {}", type, name_of(dtype)));
    }
  }
  return {{DType::kI1, operands[0].shape}};
}

/// An integer that orders as the IEEE 754 total order does: -NaN < -inf < … < -0 < +0 < … < inf <
/// NaN.
std::int64_t total_order_key(const HostTensor& tensor, std::size_t element) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(tensor.type.dtype) - 1);
  const std::uint64_t bits = read_bits(tensor, element);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude - 1 : magnitude;
}

template <class T>
std::int64_t holds(const Direction& direction, T a, T b) {
  if (a < b) return direction.if_less ? 1 : 0;
  if (a == b) return direction.if_equal ? 1 : 0;
  if (a > b) return direction.if_greater ? 1 : 0;
  return direction.if_unordered ? 1 : 0;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& a = operands[0];
  const HostTensor& b = operands[1];
  const Direction& direction = direction_of(op);
  return map_elements(operands, DType::kI1, write_int, [&](std::size_t i) {
    const std::size_t ia = element_of(a, i);
    const std::size_t ib = element_of(b, i);
    if (is_complex(a.type.dtype)) {
      const bool equal = read_complex(a, ia) == read_complex(b, ib);
      return holds(direction, equal ? 1 : 0, 1);
    }
    if (!is_float(a.type.dtype) && !is_signed(a.type.dtype)) {
      return holds(direction, read_bits(a, ia), read_bits(b, ib));
    }
    if (!is_float(a.type.dtype)) return holds(direction, read_int(a, ia), read_int(b, ib));
    if (is_total_order(op)) {
      return holds(direction, total_order_key(a, ia), total_order_key(b, ib));
    }
    return holds(direction, read_float(a, ia), read_float(b, ib));
  });
}

/// As total_order_key: the bits, with those of the magnitude flipped below zero.
Node emit_total_order_key(Expression& expression, Node x) {
  const bool half = size_of(expression.dtype(x)) == 2;
  const DType integer = half ? DType::kI16 : DType::kI32;
  const Term bits{&expression, expression.bitcast(x, integer)};
  const Term zero{&expression, expression.constant(integer, 0)};
  const Term magnitude{&expression, expression.constant(integer, half ? 0x7fff : 0x7fffffff)};
  return select(bits < zero, bits ^ magnitude, bits).node;
}

std::vector<Node> emit(const Op& op, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  Node a = operands[0];
  Node b = operands[1];
  if (is_float(expression.dtype(a)) && is_total_order(op)) {
    a = emit_total_order_key(expression, a);
    b = emit_total_order_key(expression, b);
  }
  return {expression.apply(direction_of(op).primitive, {a, b})};
}

constexpr std::array<std::string_view, 4> kCompareTypes = {"FLOAT", "TOTALORDER", "SIGNED",
                                                           "UNSIGNED"};

// `LT, %a, %b, FLOAT : …`, the words anywhere among the operands.
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  if (parser.token().is('(')) return parser.parse_usual(op);
  do {
    const std::string_view word = parser.token().text;
    if (parser.token().kind != import::TokenKind::kWord) {
      op.operands.push_back(parser.parse_value());
      continue;
    }
    if (std::ranges::find(kDirections, word, &Direction::name) != kDirections.end()) {
      op.attributes.insert_or_assign("comparison_direction", std::string(word));
    } else if (std::ranges::find(kCompareTypes, word) != kCompareTypes.end()) {
      op.attributes.insert_or_assign("compare_type", std::string(word));
    } else {
      parser.fail(
          "expected EQ, NE, GE, GT, LE or LT, or FLOAT, TOTALORDER, SIGNED or UNSIGNED, found " +
          parser.found());
    }
    parser.advance();
  } while (parser.accept(','));
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

bool is_total_order(const Op& compare) {
  return compare.attributes.contains("compare_type") &&
         attribute<std::string>(compare, "compare_type") == "TOTALORDER";
}

const OpDefinition kCompareOp{
    .name = "stablehlo.compare",
    .summary = "Whether two elements stand in a relation; NaN only in NE, unless in total order.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kAnyDType, kAnyDType}},
    .syntax = {.parse = parse},
    .attributes = "comparison_direction compare_type",
};

}  // namespace superstep
