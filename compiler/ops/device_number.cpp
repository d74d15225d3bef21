// What a program asks of the devices it runs on: there is one, with the number 0.

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer_number(const Op&, std::span<const TensorType>) {
  return {{DType::kU32, {}}};
}
std::vector<HostTensor> evaluate_number(const Op&, std::span<const HostTensor>) {
  return {HostTensor(TensorType{DType::kU32, {}})};
}

}  // namespace

const OpDefinition kPartitionIdOp{
    .name = "stablehlo.partition_id",
    .summary = "0: there is one device.",
    .infer = infer_number,
    .evaluate = evaluate_number,
    .lowerings = {ConstantLowering{}},
    .traits = {.operands = {}},
};

const OpDefinition kReplicaIdOp{
    .name = "stablehlo.replica_id",
    .summary = "0: there is one device.",
    .infer = infer_number,
    .evaluate = evaluate_number,
    .lowerings = {ConstantLowering{}},
    .traits = {.operands = {}},
};

}  // namespace superstep
