#include "compiler/import/parser.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op&, std::span<const TensorType> operands) {
  return {operands.begin(), operands.end()};
}

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  return {operands.begin(), operands.end()};
}

std::vector<Tensor> expand(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {operands.begin(), operands.end()};
}

// `%a, %b : type of a, type of b`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  parser.parse_items(op);
  if (const auto types = parser.parse_listed_types(op)) op.operand_types = op.result_types = *types;
}

}  // namespace

const OpDefinition kOptimizationBarrierOp{
    .name = "stablehlo.optimization_barrier",
    .summary = "The operands. Equal ops on both sides of it are computed once all the same.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType)},
    .syntax = {.parse = parse},
};

}  // namespace superstep
