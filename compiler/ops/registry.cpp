#include <algorithm>
#include <array>

#include "compiler/ops/ops.h"

namespace superstep {
namespace {

constexpr std::array kOps = {
    &kSquareOp,
    &kAbsOp,
    &kAddOp,
    &kAndOp,
    &kAtan2Op,
    &kBitcastConvertOp,
    &kBroadcastInDimOp,
    &kCbrtOp,
    &kCeilOp,
    &kClampOp,
    &kCompareOp,
    &kConcatenateOp,
    &kConstantOp,
    &kConvertOp,
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
    &kSliceOp,
    &kSqrtOp,
    &kSubtractOp,
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

}  // namespace superstep
