#pragma once

#include <cmath>
#include <cstring>
#include <cstdint>

#include "poplar/HalfFloat.hpp"

namespace poplar {

/// An 8-bit float; which of the two formats it has, and its scale, come with the tensor.
struct quarter {
  std::uint8_t bits = 0;
};

/// Format and scale of a tensor of 8-bit floats (bit 7: F143, bits 5 to 0: signed scale).
struct quarter_metadata {
  enum class format { quarter143, quarter152 };
  format fmt = format::quarter143;
  signed char scale = 0;
};

using MetadataType = unsigned char;

inline quarter_metadata unpackMetadata(MetadataType packed) {
  const int scale = static_cast<signed char>(static_cast<unsigned char>(packed << 2)) >> 2;
  return {(packed & 0x80) != 0 ? quarter_metadata::format::quarter143
                               : quarter_metadata::format::quarter152,
          static_cast<signed char>(scale)};
}
inline quarter_metadata unpackMetadata(const MetadataType* packed) {
  return unpackMetadata(*packed);
}

inline float toFloat(quarter value, quarter_metadata metadata) {
  if (value.bits == 0x80) return NAN;
  const int fraction_bits = metadata.fmt == quarter_metadata::format::quarter143 ? 3 : 2;
  const int bias = metadata.fmt == quarter_metadata::format::quarter143 ? 8 : 16;
  const int fraction = value.bits & ((1 << fraction_bits) - 1);
  const int exponent = (value.bits & 0x7f) >> fraction_bits;
  const float magnitude = exponent == 0 ? std::ldexp(float(fraction), 1 - bias - fraction_bits)
                                        : std::ldexp(float(fraction + (1 << fraction_bits)),
                                                     exponent - bias - fraction_bits);
  return std::ldexp((value.bits & 0x80) != 0 ? -magnitude : magnitude, metadata.scale);
}
inline half toHalf(quarter value, quarter_metadata metadata) { return toFloat(value, metadata); }

/// The nearest 8-bit float, by search: the harness converts few values.
inline quarter toQuarter(float value, quarter_metadata metadata, bool nan_on_overflow = false) {
  if (value != value) return {0x80};
  quarter nearest{0};
  for (int bits = 1; bits < 256; ++bits) {
    const quarter candidate{static_cast<std::uint8_t>(bits)};
    if (bits == 0x80) continue;
    const float distance = std::fabs(toFloat(candidate, metadata) - value);
    const float best = std::fabs(toFloat(nearest, metadata) - value);
    if (distance < best || (distance == best && (nearest.bits & 1) != 0)) nearest = candidate;
  }
  const float largest = std::fabs(toFloat({0x7f}, metadata));
  if (nan_on_overflow && std::fabs(value) > largest) return {0x80};
  return nearest;
}

}  // namespace poplar

using poplar::MetadataType;
using poplar::quarter;
using poplar::quarter_metadata;
using poplar::toFloat;
using poplar::toHalf;
using poplar::toQuarter;
using poplar::unpackMetadata;
