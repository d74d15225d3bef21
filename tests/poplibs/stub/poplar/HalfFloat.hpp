#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/float16.h"

namespace poplar {

/// IEEE binary16 on the host: operators work in float, a store rounds to nearest even.
class IeeeHalf {
 public:
  constexpr IeeeHalf() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr IeeeHalf(T value)  // NOLINT: implicit, as PopLibs' codelets use it
      : bits_(superstep::portable_half_bits(static_cast<float>(value))) {}

  static constexpr IeeeHalf fromBits(std::uint16_t bits) {
    IeeeHalf half;
    half.bits_ = bits;
    return half;
  }
  [[nodiscard]] constexpr std::uint16_t bit16() const { return bits_; }
  constexpr operator float() const { return superstep::portable_float_of_half(bits_); }

  IeeeHalf& operator+=(float other) { return *this = IeeeHalf(float(*this) + other); }
  IeeeHalf& operator-=(float other) { return *this = IeeeHalf(float(*this) - other); }
  IeeeHalf& operator*=(float other) { return *this = IeeeHalf(float(*this) * other); }
  IeeeHalf& operator/=(float other) { return *this = IeeeHalf(float(*this) / other); }

 private:
  std::uint16_t bits_ = 0;
};

}  // namespace poplar

using half = poplar::IeeeHalf;

template <>
class std::numeric_limits<half> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = 11;
  static constexpr half min() { return half::fromBits(0x0400); }
  static constexpr half max() { return half::fromBits(0x7bff); }
  static constexpr half lowest() { return half::fromBits(0xfbff); }
  static constexpr half epsilon() { return half::fromBits(0x1400); }
  static constexpr half denorm_min() { return half::fromBits(0x0001); }
  static constexpr half infinity() { return half::fromBits(0x7c00); }
  static constexpr half quiet_NaN() { return half::fromBits(0x7e00); }
};
