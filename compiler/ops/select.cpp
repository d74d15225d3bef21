#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& condition = operands[0];
  if (operands[1] != operands[2]) {
    malformed(op, fmt::format("the choices have types {} and {}, expected equal ones",
                              operands[1].text(), operands[2].text()));
  }
  if (!condition.shape.empty() && condition.shape != operands[1].shape) {
    malformed(op, fmt::format("the predicate {} has neither rank 0 nor the shape of {}",
                              condition.text(), operands[1].text()));
  }
  return {operands[1]};
}

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  HostTensor result(TensorType{operands[1].type.dtype, common_shape(operands)});
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    const bool first = read_int(operands[0], element_of(operands[0], i)) != 0;
    const HostTensor& chosen = operands[first ? 1 : 2];
    copy_element(result, i, chosen, element_of(chosen, i));
  }
  return {std::move(result)};
}

// `%p, %a, %b : type of p, type of the others`, or all types.
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  parser.parse_items(op);
  const std::size_t offset = parser.token().offset;
  const auto types = parser.parse_listed_types(op);
  if (!types) return;
  if (types->size() > 2) {
    throw import::SyntaxError{offset, "expected the types of the predicate and of the choices"};
  }
  op.operand_types = {types->front(), types->back(), types->back()};
  op.result_types = {types->back()};
}

}  // namespace

const OpDefinition kSelectOp{
    .name = "stablehlo.select",
    .summary = "An element of the second operand where the predicate holds, else of the third.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit_primitive<vertex::Primitive::kSelect>}},
    .traits = {.operands = {kBooleans, kAnyDType, kAnyDType}},
    .syntax = {.parse = parse},
};

}  // namespace superstep
