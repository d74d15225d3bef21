#pragma once

#include "compiler/ops/op.h"

namespace superstep {

extern const OpDefinition kSquareOp;

extern const OpDefinition kAbsOp, kAddOp, kAndOp, kAtan2Op, kBitcastConvertOp, kBroadcastInDimOp,
    kCbrtOp, kCeilOp, kClampOp, kCompareOp, kConcatenateOp, kConstantOp, kConvertOp,
    kCountLeadingZerosOp, kDivideOp, kDotGeneralOp, kExponentialOp, kExponentialMinusOneOp,
    kFloorOp, kIotaOp, kIsFiniteOp, kLogOp, kLogPlusOneOp, kLogisticOp, kMaximumOp, kMinimumOp,
    kMultiplyOp, kNegateOp, kNotOp, kOrOp, kPadOp, kPopcntOp, kPowerOp, kReduceOp, kRemainderOp,
    kReshapeOp, kReverseOp, kRoundNearestAfzOp, kRoundNearestEvenOp, kRsqrtOp, kSelectOp,
    kShiftLeftOp, kShiftRightArithmeticOp, kShiftRightLogicalOp, kSignOp, kSliceOp, kSqrtOp,
    kSubtractOp, kTanhOp, kTransposeOp, kXorOp;

}  // namespace superstep
