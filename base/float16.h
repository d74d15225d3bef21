#pragma once

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace superstep {

inline constexpr std::uint16_t kHalfNan = 0x7e00;
inline constexpr std::uint32_t kFloatNan = 0x7fc00000;

/// The value with every NaN replaced by the canonical quiet one.
inline float canonical(float value) {
  if (value != value) [[unlikely]] {
    // Keeps compilers from selecting without a branch: sums would wait for the comparison.
    asm volatile("");
    return std::bit_cast<float>(kFloatNan);
  }
  return value;
}

/// The nearest f16 (ties to even) by integer arithmetic alone; overflow gives infinity, NaN the
/// canonical one.
constexpr std::uint16_t portable_half_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return kHalfNan;
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x33000000U) return static_cast<std::uint16_t>(sign);
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t mantissa = magnitude;
  std::uint32_t shift = 13;
  if (exponent < 113) {
    mantissa = (magnitude & 0x7fffffU) | 0x800000U;
    shift = 126 - exponent;
  } else {
    mantissa -= 112U << 23;
  }
  const std::uint32_t half = std::uint32_t{1} << (shift - 1);
  const std::uint32_t odd = mantissa >> shift & 1U;
  return static_cast<std::uint16_t>(sign | (mantissa + half - 1 + odd) >> shift);
}

/// The exact f32 of an f16 by integer arithmetic alone; NaN becomes the canonical one.
constexpr float portable_float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude > 0x7c00U) return std::bit_cast<float>(kFloatNan);
  if (magnitude == 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U);
  if (magnitude >= 0x400U) return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

/// The exact f32 of an f16; NaN becomes the canonical one.
inline float float_of_half(std::uint16_t bits) {
#ifdef __F16C__
  return canonical(_cvtsh_ss(bits));
#else
  // A signalling NaN, as the instruction of a host raises it.
  if ((bits & 0x7fffU) > 0x7c00U && (bits & 0x200U) == 0) std::feraiseexcept(FE_INVALID);
  return portable_float_of_half(bits);
#endif
}

/// The nearest f16, ties to even; overflow gives infinity, NaN the canonical one.
inline std::uint16_t half_bits(float value) {
#ifdef __F16C__
  const std::uint16_t bits = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
  return (bits & 0x7fffU) > 0x7c00U ? kHalfNan : bits;
#else
  return portable_half_bits(value);
#endif
}

/// Four at once, exact; NaN stays NaN.
inline std::array<float, 4> floats_of_halves(const std::array<std::uint16_t, 4>& bits) {
#ifdef __F16C__
  std::array<float, 4> values;
  _mm_storeu_ps(values.data(),
                _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bits.data()))));
  return values;
#else
  return {float_of_half(bits[0]), float_of_half(bits[1]), float_of_half(bits[2]),
          float_of_half(bits[3])};
#endif
}

/// The nearest f16 of four, as `half_bits` has it.
inline std::array<std::uint16_t, 4> halves_of_floats(const std::array<float, 4>& values) {
#ifdef __F16C__
  const __m128 all = _mm_loadu_ps(values.data());
  const __m128 nan = _mm_cmpunord_ps(all, all);
  const __m128 quiet = _mm_set1_ps(std::bit_cast<float>(kFloatNan));
  std::array<std::uint16_t, 4> bits;
  _mm_storel_epi64(reinterpret_cast<__m128i*>(bits.data()),
                   _mm_cvtps_ph(_mm_blendv_ps(all, quiet, nan), _MM_FROUND_TO_NEAREST_INT));
  return bits;
#else
  return {half_bits(values[0]), half_bits(values[1]), half_bits(values[2]), half_bits(values[3])};
#endif
}

}  // namespace superstep
