#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/float16.h"
#include "isa/values.h"

namespace superstep::isa {

/// IEEE 754-2008 maxNum and minNum: a NaN loses against a number; -0 is less than +0. Assumed.
inline float number_max(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline float number_min(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// The lesser of `most` and the greater of `value` and `least`; NaN stays NaN: graphcore/poplibs
/// lib/popfloat/codelets/asm/CastToGfloat32.S clamps what it has made NaN on overflow, and
/// tools/cast_to_gfloat.cpp expects NaN of the machine.
inline float clamped(float value, float least, float most) {
  return value != value ? value : number_min(number_max(value, least), most);
}

inline float from_double(double value) { return static_cast<float>(value); }

/// An f32 near `value` that rounds to the f16 nearest to `value`: rounded to odd, so that the
/// second rounding cannot err.
inline float once_rounded(double value) {
  const float nearest = static_cast<float>(value);
  if (value != value || static_cast<double>(nearest) == value || std::isinf(nearest)) {
    return nearest;
  }
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  if (away) --bits;
  return std::bit_cast<float>(bits | 1U);
}

/// Whatever the host's direction of rounding.
inline float nearest_even(float value) {
  // NaN, infinite or whole; the difference below would raise an exception of the host.
  if (!std::isless(std::fabs(value), 0x1p23F)) return value;
  const float whole = std::trunc(value);
  const float rest = std::fabs(value - whole);
  const bool away = rest > 0.5F || (rest == 0.5F && std::fmod(whole, 2.0F) != 0.0F);
  return away ? whole + std::copysign(1.0F, value) : whole;
}

/// Rounding to an integer: 0 nearest even, 1 up, 2 down, 3 to zero, 4 nearest away
/// (graphcore/llvm-project-fork llvm/test/CodeGen/Colossus: what ceil, floor, trunc and round
/// become; graphcore/poplibs lib/popops/codelets/inlineAssemblerCast.hpp, TFPU_ROUND_ZERO).
inline float rounded(float value, U32 mode) {
  switch (mode) {
    case 1:
      return std::ceil(value);
    case 2:
      return std::floor(value);
    case 3:
      return std::trunc(value);
    case 4:
      return std::round(value);
    default:
      return nearest_even(value);
  }
}

/// Raises the host's flag of an invalid operation.
inline void raise_invalid() {
  volatile float zero = 0.0F;
  zero = zero / zero;
}

/// Of a number that has no integer.
inline U32 invalid_integer(U32 result) {
  raise_invalid();
  return result;
}

inline U32 signed_of(float value) {
  if (value != value) return invalid_integer(0);
  const float whole = std::nearbyint(value);
  if (whole >= 0x1p31F) return invalid_integer(0x7fffffffU);
  if (whole < -0x1p31F) return invalid_integer(0x80000000U);
  return static_cast<U32>(static_cast<std::int32_t>(whole));
}
inline U32 unsigned_of(float value) {
  if (value != value) return invalid_integer(0);
  const float whole = std::nearbyint(value);
  if (whole < 0.0F) return invalid_integer(0);
  if (whole >= 0x1p32F) return invalid_integer(0xffffffffU);
  return static_cast<U32>(whole);
}

/// Classes: 1 signalling NaN, 2 quiet NaN, 3 and 4 infinities, 5 -0, 6 +0, 7 and 8 subnormal, 9 and
/// 10 normal; of a pair the negative one first. NaNs below 3, infinities at 3 and 4 and the finite
/// above: graphcore/llvm-project-fork clang/lib/CodeGen/Targets/Colossus.cpp, testFPKind. Quiet NaN
/// and -0: graphcore/poplibs HasNaN.S and inlineAssemblerCast.hpp. The others are assumed.
constexpr U32 class_of_parts(bool negative, U32 exponent, U32 all_ones, U32 fraction, U32 quiet) {
  if (exponent == all_ones && fraction != 0) return (fraction & quiet) != 0 ? 2 : 1;
  const U32 positive = negative ? 0 : 1;
  if (exponent == all_ones) return 3 + positive;
  if (exponent != 0) return 9 + positive;
  return (fraction != 0 ? 7 : 5) + positive;
}
inline U32 class_of(float value) {
  const U32 bits = std::bit_cast<U32>(value);
  return class_of_parts(bits >> 31 != 0, bits >> 23 & 0xffU, 0xffU, bits & 0x7fffffU, 0x400000U);
}
constexpr U32 class_of_half(std::uint16_t bits) {
  return class_of_parts(bits >> 15 != 0, bits >> 10 & 0x1fU, 0x1fU, bits & 0x3ffU, 0x200U);
}

constexpr U32 mask_if(bool condition) { return condition ? 0xffffffffU : 0; }

/// `operation` on each lane; f16 lanes are computed in f32, and rounded once where they are
/// written.
template <class Operation>
F32x2 lanes(F32x2 x, F32x2 y, Operation&& operation) {
  return {{canonical(operation(x.lane[0], y.lane[0])), canonical(operation(x.lane[1], y.lane[1]))}};
}
template <class Operation>
F32x4 lanes(F16x4 x, F16x4 y, Operation&& operation) {
  const std::array<float, 4> a = floats_of_halves(x.lane), b = floats_of_halves(y.lane);
  return {
      {operation(a[0], b[0]), operation(a[1], b[1]), operation(a[2], b[2]), operation(a[3], b[3])}};
}
template <class Operation>
F32x2 lanes(F16x2 x, F16x2 y, Operation&& operation) {
  const std::array<float, 4> a = floats_of_halves({x.lane[0], x.lane[1], 0, 0});
  const std::array<float, 4> b = floats_of_halves({y.lane[0], y.lane[1], 0, 0});
  return {{operation(a[0], b[0]), operation(a[1], b[1])}};
}

template <class Compare>
U64 compare_lanes(F32x2 x, F32x2 y, Compare&& compare) {
  return pair_of(mask_if(compare(x.lane[0], y.lane[0])), mask_if(compare(x.lane[1], y.lane[1])));
}
template <class Halves, class Compare>
Halves compare_lanes(Halves x, Halves y, Compare&& compare) {
  std::array<std::uint16_t, 4> first{}, second{};
  std::copy(x.lane.begin(), x.lane.end(), first.begin());
  std::copy(y.lane.begin(), y.lane.end(), second.begin());
  const std::array<float, 4> a = floats_of_halves(first), b = floats_of_halves(second);
  Halves out;
  for (unsigned i = 0; i < out.lane.size(); ++i) out.lane[i] = compare(a[i], b[i]) ? 0xffffU : 0;
  return out;
}

inline F32x2 floats_of(F16x2 x) { return {{float_of_half(x.lane[0]), float_of_half(x.lane[1])}}; }

constexpr F16x2 lower_twice(F16x2 x) { return {{x.lane[0], x.lane[0]}}; }
constexpr F16x4 lower_four_times(F16x2 x) { return {{x.lane[0], x.lane[0], x.lane[0], x.lane[0]}}; }
inline std::uint16_t greater_half(std::uint16_t a, std::uint16_t b) {
  return half_bits(number_max(float_of_half(a), float_of_half(b)));
}

}  // namespace superstep::isa
