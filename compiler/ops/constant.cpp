#include <utility>

#include "compiler/import/parser.h"
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

const OpDefinition kConstantOp{
    .name = "stablehlo.constant",
    .summary = "A tensor given in the module.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ConstantLowering{}},
    .traits = {.operands = {}},
    .syntax = {.parse = parse},
};

}  // namespace superstep
