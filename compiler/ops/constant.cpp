#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 0);
  return single_result(op, attribute<HostTensor>(op, "value").type);
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor>) {
  return {attribute<HostTensor>(op, "value")};
}

}  // namespace

const OpDefinition kConstantOp{
    .name = "stablehlo.constant",
    .summary = "A tensor given in the module.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ConstantLowering{}},
};

}  // namespace superstep
