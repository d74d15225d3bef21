#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace superstep {

/// A set of dtypes.
using DTypeSet = std::uint32_t;
constexpr DTypeSet only(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
constexpr DTypeSet kNarrowFloats =
    only(DType::kF4E2M1FN) | only(DType::kF6E2M3FN) | only(DType::kF6E3M2FN) |
    only(DType::kF8E3M4) | only(DType::kF8E4M3) | only(DType::kF8E4M3B11FNUZ) |
    only(DType::kF8E4M3FN) | only(DType::kF8E4M3FNUZ) | only(DType::kF8E5M2) |
    only(DType::kF8E5M2FNUZ) | only(DType::kF8E8M0FNU);
constexpr DTypeSet kFloats =
    only(DType::kBF16) | only(DType::kF16) | only(DType::kF32) | only(DType::kF64) | kNarrowFloats;
constexpr DTypeSet kComplex = only(DType::kC64) | only(DType::kC128);
constexpr DTypeSet kSignedIntegers = only(DType::kI2) | only(DType::kI4) | only(DType::kI8) |
                                     only(DType::kI16) | only(DType::kI32) | only(DType::kI64);
constexpr DTypeSet kIntegers = kSignedIntegers | only(DType::kU2) | only(DType::kU4) |
                               only(DType::kU8) | only(DType::kU16) | only(DType::kU32) |
                               only(DType::kU64);
constexpr DTypeSet kBooleans = only(DType::kI1);
constexpr DTypeSet kNumbers = kFloats | kIntegers;
constexpr DTypeSet kAnyDType = kNumbers | kComplex | kBooleans;

}  // namespace superstep
