#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace superstep {

/// How floats of at most 8 bits are made: sign, exponent, mantissa, from the highest bit.
struct NarrowFloat {
  enum class Kind : std::uint8_t {
    kIeee,      ///< the highest exponent is infinity and NaN
    kFinite,    ///< NaN is all ones; no infinity
    kNumbers,   ///< neither NaN nor infinity: what is too large is the largest
    kUnsigned,  ///< NaN is what -0 would be; no infinity, one zero
    kPower,     ///< a power of two without a sign: an exponent alone, of which all ones is NaN
  };
  int mantissa_bits = 0;
  int bias = 0;
  Kind kind = Kind::kIeee;
  int width = 8;

  [[nodiscard]] constexpr std::uint32_t codes() const { return 1U << width; }
  [[nodiscard]] constexpr std::uint32_t sign_bit() const {
    return kind == Kind::kPower ? 0 : codes() / 2;
  }
  /// Of the NaN that conversions make; where there is none, of the -0 that ml_dtypes makes of it.
  [[nodiscard]] constexpr std::uint32_t nan() const {
    switch (kind) {
      case Kind::kIeee:
        return infinity() | 1U << (mantissa_bits - 1);
      case Kind::kFinite:
        return 0x7f;
      case Kind::kNumbers:
      case Kind::kUnsigned:
        return sign_bit();
      case Kind::kPower:
        return 0xff;
    }
    return 0;
  }
  /// Of the first magnitude that is no finite number.
  [[nodiscard]] constexpr std::uint32_t infinity() const {
    if (kind == Kind::kIeee) return 0x7fU >> mantissa_bits << mantissa_bits;
    return kind == Kind::kFinite ? 0x7f : kind == Kind::kPower ? 0xff : codes() / 2;
  }
};

/// Of a dtype that `is_narrow_float`.
[[nodiscard]] NarrowFloat narrow_float(DType dtype);

/// The number that the bits of a float stand for; those above its width do not count.
[[nodiscard]] double number_of(const NarrowFloat& format, std::uint32_t bits);
/// The bits of a number, rounded to nearest even (powers: the greater of two equally near, and
/// 2^-126 for all between 2^-127 and that); what is too large is infinity, or NaN where there is
/// none, or the largest number where there is no NaN either.
[[nodiscard]] std::uint32_t code_of(const NarrowFloat& format, float value);

}  // namespace superstep
