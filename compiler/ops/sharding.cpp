#include "compiler/import/parser.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op&, std::span<const TensorType> operands) {
  return {operands[0]};
}

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  return {operands[0]};
}

std::vector<Tensor> expand(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {operands[0]};
}

// `%a <@mesh, [{}]> : type`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  op.operands = {parser.parse_value()};
  if (parser.token().is('<')) parser.skip_angles();
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

const OpDefinition kShardingConstraintOp{
    .name = "sdy.sharding_constraint",
    .summary = "The operand: there is one device, whatever shards are asked for.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.parse = parse},
};

}  // namespace superstep
