#include <utility>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType>) {
  return {attribute<SharedTensor>(op, "value").get().type};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor>) {
  return {attribute<SharedTensor>(op, "value").get()};
}

/// The number that all elements are.
HostTensor repeated_number(const Op& op) {
  HostTensor number(TensorType{required_result(op).dtype, {}});
  const auto found = op.attributes.find("value");
  if (found == op.attributes.end()) malformed(op, "misses attribute value");
  const auto write = [&](auto value) {
    const DType dtype = number.type.dtype;
    is_float(dtype) || is_complex(dtype) ? write_number(number, 0, static_cast<double>(value))
                                         : write_int(number, 0, static_cast<std::int64_t>(value));
  };
  if (const auto* real = std::get_if<double>(&found->second)) {
    write(*real);
  } else if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
    write(*integer);
  } else if (const auto* truth = std::get_if<bool>(&found->second)) {
    write(*truth);
  } else {
    unsupported(op, "of a value that is no number");
  }
  return number;
}

std::vector<TensorType> infer_like(const Op& op, std::span<const TensorType> operands) {
  static_cast<void>(repeated_number(op));
  return {{required_result(op).dtype, operands[0].shape}};
}

std::vector<HostTensor> evaluate_like(const Op& op, std::span<const HostTensor>) {
  const HostTensor number = repeated_number(op);
  HostTensor result(required_result(op));
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    copy_element(result, i, number, 0);
  }
  return {std::move(result)};
}

std::vector<Tensor> expand_like(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands) {
  return {broadcast(builder.constant(repeated_number(op)), operands[0].shape(), {})};
}

// `dense<…> : type` with attributes in front of it, or `() {value = …} : () -> type`.
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  if (parser.accept('(')) {
    parser.expect(')', "behind `stablehlo.constant(`");
    parser.add_optional_properties(op);
    parser.add_optional_dictionary(op);
    return parser.parse_function_type(op);
  }
  parser.add_optional_dictionary(op);
  if (!parser.token().is_word("dense") && !parser.token().is_word("dense_resource")) {
    parser.fail("expected dense<…>, found " + parser.found());
  }
  import::SyntaxAttribute value = parser.parse_attribute(0);
  op.result_types = {value.type};
  parser.add_attribute(op, "value", std::move(value));
}

}  // namespace

const OpDefinition kConstantLikeOp{
    .name = "chlo.constant_like",
    .summary = "A number repeated to the shape of the operand.",
    .infer = infer_like,
    .evaluate = evaluate_like,
    .lowerings = {ExpandLowering{expand_like}},
    .traits = {.operands = {kAnyDType}, .is_shorthand = true},
    .attributes = "value",
};
const OpDefinition kConstantOp{
    .name = "stablehlo.constant",
    .summary = "A tensor given in the module.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ConstantLowering{}},
    .traits = {.operands = {}},
    .syntax = {.parse = parse},
    .attributes = "value",
};

}  // namespace superstep
