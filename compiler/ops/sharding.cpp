#include "compiler/import/parser.h"
#include "compiler/ops/identity.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

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
    .infer = infer_identity,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.parse = parse},
    .attributes = "sharding",
};

}  // namespace superstep
