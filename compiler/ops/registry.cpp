#include <algorithm>
#include <array>
#include <string>

#include "compiler/ops/ops.h"

namespace superstep {
namespace {

constexpr std::array kOps = {
    &kAcosOp,
    &kAcoshOp,
    &kAsinOp,
    &kAsinhOp,
    &kAtanOp,
    &kAtanhOp,
    &kCoshOp,
    &kErfOp,
    &kErfInvOp,
    &kErfcOp,
    &kIsInfOp,
    &kIsNegInfOp,
    &kIsPosInfOp,
    &kSinhOp,
    &kSquareOp,
    &kChloTanOp,
    &kAbsOp,
    &kAddOp,
    &kAndOp,
    &kAtan2Op,
    &kBatchNormGradOp,
    &kBatchNormInferenceOp,
    &kBatchNormTrainingOp,
    &kBitcastConvertOp,
    &kBroadcastInDimOp,
    &kCbrtOp,
    &kCeilOp,
    &kClampOp,
    &kCompareOp,
    &kConcatenateOp,
    &kConstantOp,
    &kConvertOp,
    &kCosineOp,
    &kCountLeadingZerosOp,
    &kDivideOp,
    &kDotGeneralOp,
    &kExponentialOp,
    &kExponentialMinusOneOp,
    &kFloorOp,
    &kIotaOp,
    &kIsFiniteOp,
    &kLogOp,
    &kLogPlusOneOp,
    &kLogisticOp,
    &kMaximumOp,
    &kMinimumOp,
    &kMultiplyOp,
    &kNegateOp,
    &kNotOp,
    &kOptimizationBarrierOp,
    &kOrOp,
    &kPadOp,
    &kPopcntOp,
    &kPowerOp,
    &kReduceOp,
    &kRemainderOp,
    &kReshapeOp,
    &kReverseOp,
    &kRoundNearestAfzOp,
    &kRoundNearestEvenOp,
    &kRsqrtOp,
    &kSelectOp,
    &kShiftLeftOp,
    &kShiftRightArithmeticOp,
    &kShiftRightLogicalOp,
    &kSignOp,
    &kSineOp,
    &kSliceOp,
    &kSqrtOp,
    &kSubtractOp,
    &kTanOp,
    &kTanhOp,
    &kTransposeOp,
    &kXorOp,
};

}  // namespace

std::span<const OpDefinition* const> all_ops() { return kOps; }

const OpDefinition* find_op(std::string_view name) {
  const auto found = std::ranges::lower_bound(kOps, name, {}, &OpDefinition::name);
  return found != kOps.end() && (*found)->name == name ? *found : nullptr;
}

const Lowering& lowering_of(const Op& op, const Graph& graph) {
  const auto takes = [&](const Lowering& lowering) {
    const Takes by_kind = std::visit([](const auto& kind) { return kind.takes; }, lowering);
    return by_kind == nullptr || by_kind(op, graph);
  };
  const auto* const found = std::ranges::find_if(op.definition->lowerings, takes);
  SUPERSTEP_CHECK(found != op.definition->lowerings.end(),
                  "no lowering takes " + std::string(op.definition->name));
  return *found;
}

}  // namespace superstep
