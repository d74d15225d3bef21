#include "compiler/import/parser.h"
#include "compiler/ops/identity.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/step_lowerings.h"

namespace superstep {
namespace {

std::vector<Vote> votes(const Op&, const Graph&) { return {}; }

// `%a, %b : type of a, type of b`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  parser.parse_items(op);
  if (const auto types = parser.parse_listed_types(op)) op.operand_types = op.result_types = *types;
}

}  // namespace

const OpDefinition kOptimizationBarrierOp{
    .name = "stablehlo.optimization_barrier",
    .summary =
        "The operands, when all are there. What follows is neither merged nor fused with what is "
        "before.",
    .infer = infer_identity,
    .evaluate = evaluate_identity,
    .lowerings = {StepLowering{lower_barrier, votes}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType), .is_opaque = true},
    .syntax = {.parse = parse},
};

}  // namespace superstep
