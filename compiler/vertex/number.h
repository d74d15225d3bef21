#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace superstep::vertex {

/// The integer (or i1, 0 or 1) that `bits` hold, sign- or zero-extended.
[[nodiscard]] std::int64_t int_of(DType dtype, std::uint64_t bits);

/// The bits of `value` wrapped to the width of an integer dtype; of its lowest bit for i1.
[[nodiscard]] std::uint64_t bits_of_int(DType dtype, std::int64_t value);

/// The float that `bits` hold.
[[nodiscard]] double float_of(DType dtype, std::uint64_t bits);

/// The bits of `value` rounded once to a float (to nearest even; bf16 and floats of 8 bits by way
/// of f32); a NaN gives the canonical quiet NaN.
[[nodiscard]] std::uint64_t bits_of_float(DType dtype, double value);

/// StableHLO `convert`: float to integer truncates and saturates and takes NaN to 0, integers wrap,
/// everything but zero is true. The standard leaves values out of range open; this is what XLA does
/// on every platform.
[[nodiscard]] std::uint64_t convert_bits(DType from, DType to, std::uint64_t bits);

}  // namespace superstep::vertex
