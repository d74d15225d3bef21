#pragma once

#include "compiler/ops/op.h"

namespace superstep {

extern const OpDefinition kAcosOp, kAcoshOp, kAsinOp, kAsinhOp, kAtanOp, kAtanhOp, kCoshOp, kErfOp,
    kErfInvOp, kErfcOp, kIsInfOp, kIsNegInfOp, kIsPosInfOp, kSinhOp, kSquareOp, kChloTanOp;

extern const OpDefinition kAbsOp, kAddOp, kAndOp, kAtan2Op, kBatchNormGradOp, kBatchNormInferenceOp,
    kBatchNormTrainingOp, kBitcastConvertOp, kBroadcastInDimOp, kCbrtOp, kCeilOp, kClampOp,
    kCompareOp, kConcatenateOp, kConstantOp, kConvertOp, kCosineOp, kCountLeadingZerosOp, kDivideOp,
    kDotGeneralOp, kExponentialOp, kExponentialMinusOneOp, kFloorOp, kIotaOp, kIsFiniteOp, kLogOp,
    kLogPlusOneOp, kLogisticOp, kMaximumOp, kMinimumOp, kMultiplyOp, kNegateOp, kNotOp,
    kOptimizationBarrierOp, kOrOp, kPadOp, kPopcntOp, kPowerOp, kReduceOp, kRemainderOp, kReshapeOp,
    kReverseOp, kRoundNearestAfzOp, kRoundNearestEvenOp, kRsqrtOp, kSelectOp, kShiftLeftOp,
    kShiftRightArithmeticOp, kShiftRightLogicalOp, kSignOp, kSineOp, kSliceOp, kSqrtOp, kSubtractOp,
    kTanOp, kTanhOp, kTransposeOp, kXorOp;

}  // namespace superstep
