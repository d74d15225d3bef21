#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace superstep {

/// A set of dtypes.
using DTypeSet = std::uint32_t;
constexpr DTypeSet only(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
constexpr DTypeSet kFloats = only(DType::kF16) | only(DType::kF32);
constexpr DTypeSet kSignedIntegers = only(DType::kI8) | only(DType::kI16) | only(DType::kI32);
constexpr DTypeSet kIntegers =
    kSignedIntegers | only(DType::kU8) | only(DType::kU16) | only(DType::kU32);
constexpr DTypeSet kBooleans = only(DType::kI1);
constexpr DTypeSet kNumbers = kFloats | kIntegers;
constexpr DTypeSet kAnyDType = kNumbers | kBooleans;

}  // namespace superstep
