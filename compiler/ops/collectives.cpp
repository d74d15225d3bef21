// What devices do together, where there is one: number 0, alone in its group. A program of more is
// refused.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/elements.h"
#include "compiler/ops/identity.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/verify.h"
#include "compiler/ops/zeros.h"

namespace superstep {
namespace {

/// Groups are filled up with -1; none at all stand for one of all devices. Import says how many
/// devices the mesh has whose axes are groups.
void check_groups(const Op& op) {
  if (!op.attributes.contains("replica_groups")) {
    if (!op.attributes.contains("axes")) malformed(op, "misses attribute replica_groups");
    if (!op.attributes.contains("mesh_devices")) unsupported(op, "of axes of an unknown mesh");
    const auto devices = attribute<std::int64_t>(op, "mesh_devices");
    if (devices == 1) return;
    unsupported(op, fmt::format("of a mesh of {} devices; programs run on one", devices));
  }
  std::int64_t members = 0;
  for (const std::int64_t device : attribute<Indices>(op, "replica_groups")) {
    if (device < 0) continue;
    if (device > 0) {
      unsupported(op, fmt::format("of device {}; programs run on one, with the number 0", device));
    }
    if (++members > 1) malformed(op, "device 0 is in groups more than once");
  }
}

void check_dimension(const Op& op, std::string_view name, std::span<const TensorType> operands) {
  for (const TensorType& operand : operands) {
    static_cast<void>(dimension(op, name, operand.shape.size()));
  }
}

void check_reducer(const Op& op, std::span<const TensorType> operands) {
  const TensorType scalar{operands[0].dtype, {}};
  for (const TensorType& operand : operands) {
    if (operand.dtype != scalar.dtype) malformed(op, "the operands have different element types");
  }
  check_scalar_region(op, std::vector{scalar});
}

std::vector<TensorType> infer_all_reduce(const Op& op, std::span<const TensorType> operands) {
  check_groups(op);
  check_reducer(op, operands);
  return infer_identity(op, operands);
}

std::vector<TensorType> infer_sum(const Op& op, std::span<const TensorType> operands) {
  check_groups(op);
  return infer_identity(op, operands);
}

std::vector<TensorType> infer_reduce_scatter(const Op& op, std::span<const TensorType> operands) {
  check_groups(op);
  check_reducer(op, operands);
  check_dimension(op, "scatter_dimension", operands);
  return infer_identity(op, operands);
}

std::vector<TensorType> infer_all_gather(const Op& op, std::span<const TensorType> operands) {
  check_groups(op);
  check_dimension(op, "all_gather_dim", operands);
  return infer_identity(op, operands);
}

std::vector<TensorType> infer_all_to_all(const Op& op, std::span<const TensorType> operands) {
  check_groups(op);
  check_dimension(op, "split_dimension", operands);
  check_dimension(op, "concat_dimension", operands);
  const std::int64_t parts = attribute<std::int64_t>(op, "split_count");
  if (parts != 1) {
    malformed(op, fmt::format("split_count is {}, but there is 1 device in a group", parts));
  }
  return infer_identity(op, operands);
}

std::vector<TensorType> infer_broadcast(const Op& op, std::span<const TensorType> operands) {
  check_groups(op);
  if (op.attributes.contains("has_dynamic_root")) unsupported(op, "with a root of run time");
  return infer_identity(op, operands);
}

/// Whether device 0 sends to itself; all others are refused.
bool sends_to_itself(const Op& op) {
  const auto& pairs = attribute<Indices>(op, "source_target_pairs");
  if (pairs.size() % 2 != 0) malformed(op, "source_target_pairs are no pairs");
  for (const std::int64_t device : pairs) {
    if (device < 0) malformed(op, fmt::format("device {} in source_target_pairs", device));
    if (device > 0) {
      unsupported(op, fmt::format("of device {}; programs run on one, with the number 0", device));
    }
  }
  if (pairs.size() > 2) malformed(op, "device 0 is in source_target_pairs more than once");
  return !pairs.empty();
}

std::vector<TensorType> infer_permute(const Op& op, std::span<const TensorType> operands) {
  static_cast<void>(sends_to_itself(op));
  return infer_identity(op, operands);
}
/// To whom nothing is sent has zeros.
std::vector<HostTensor> evaluate_permute(const Op& op, std::span<const HostTensor> operands) {
  if (sends_to_itself(op)) return evaluate_identity(op, operands);
  return {zeros(operands[0].type)};
}
std::vector<Tensor> expand_permute(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  return {sends_to_itself(op) ? operands[0] : operands[0].like(0)};
}

constexpr OperandTypes kOneOrMore = OperandTypes{kAnyDType}.then_any_number_of(kAnyDType);

}  // namespace

const OpDefinition kAllGatherOp{
    .name = "stablehlo.all_gather",
    .summary = "The operands: there is one device in a group.",
    .infer = infer_all_gather,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = kOneOrMore},
    .attributes =
        "all_gather_dim use_global_device_ids replica_groups mesh mesh_name axes channel_handle "
        "handle type",
};

const OpDefinition kAllReduceOp{
    .name = "stablehlo.all_reduce",
    .summary = "The operands: there is one device in a group.",
    .infer = infer_all_reduce,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = kOneOrMore, .regions = 1},
    .attributes =
        "use_global_device_ids replica_groups mesh mesh_name axes channel_handle handle type",
};

const OpDefinition kAllToAllOp{
    .name = "stablehlo.all_to_all",
    .summary = "The operands: there is one device in a group.",
    .infer = infer_all_to_all,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = kOneOrMore},
    .attributes =
        "split_dimension concat_dimension split_count replica_groups mesh mesh_name axes "
        "channel_handle handle type",
};

const OpDefinition kCollectiveBroadcastOp{
    .name = "stablehlo.collective_broadcast",
    .summary = "The operand: there is one device in a group.",
    .infer = infer_broadcast,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = kOneOrMore},
    .attributes = "has_dynamic_root replica_groups mesh mesh_name axes channel_handle handle type",
};

const OpDefinition kCollectivePermuteOp{
    .name = "stablehlo.collective_permute",
    .summary = "The operand if the only device sends to itself, else zeros.",
    .infer = infer_permute,
    .evaluate = evaluate_permute,
    .lowerings = {ExpandLowering{expand_permute}},
    .traits = {.operands = {kAnyDType}},
    .attributes = "source_target_pairs channel_handle handle type",
};

const OpDefinition kCollectiveReduceOp{
    .name = "stablehlo.collective_reduce",
    .summary = "The operands: there is one device in a group.",
    .infer = infer_all_reduce,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = kOneOrMore, .regions = 1},
    .attributes =
        "has_dynamic_root use_global_device_ids replica_groups mesh mesh_name axes channel_handle "
        "handle type",
};

const OpDefinition kCrossReplicaSumOp{
    .name = "stablehlo.cross-replica-sum",
    .summary = "The operand: there is one device in a group.",
    .infer = infer_sum,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = {kAnyDType}},
    .attributes = "replica_groups mesh mesh_name axes",
};

const OpDefinition kReduceScatterOp{
    .name = "stablehlo.reduce_scatter",
    .summary = "The operand: there is one device in a group.",
    .infer = infer_reduce_scatter,
    .evaluate = evaluate_identity,
    .lowerings = {ExpandLowering{expand_identity}},
    .traits = {.operands = {kAnyDType}, .regions = 1},
    .attributes =
        "scatter_dimension use_global_device_ids replica_groups mesh mesh_name axes channel_handle "
        "handle type",
};

}  // namespace superstep
