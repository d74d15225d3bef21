#pragma once

#include <array>
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "base/float16.h"
#include "isa/registers.h"
#include "isa/values.h"

namespace superstep::isa {

/// How results narrower than f32 are rounded when FP_CTL asks for anything but to nearest even:
/// slow and exact, for all modes alike.
struct Rounding {
  U32 mode = kRoundNearest;      ///< FP_CTL.RND
  bool stochastic = false;       ///< FP_CTL.ESR; wins against the mode
  bool nan_on_overflow = false;  ///< FP_CTL.NANOO

  explicit Rounding(U32 fp_control)
      : mode(fp_control >> kFpCtlRndShift & 7U),
        stochastic((fp_control & kFpCtlEsr) != 0),
        nan_on_overflow((fp_control & kFpCtlNanoo) != 0) {}

  /// Whether a magnitude of `whole` units and `rest` of one becomes `whole` + 1: at random with
  /// probability `rest`, in steps of 2^-16, when rounding is stochastic.
  [[nodiscard]] bool goes_up(double whole, double rest, bool negative, U32 random) const {
    if (stochastic) return std::floor(rest * 65536.0) + (random & 0xffffU) >= 65536.0;
    switch (mode) {
      case kRoundUp:
        return rest > 0.0 && !negative;
      case kRoundDown:
        return rest > 0.0 && negative;
      case kRoundToZero:
        return false;
      default:
        return rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0.0);
    }
  }
  /// Whether a magnitude beyond the greatest stays there.
  [[nodiscard]] bool stops_at_greatest(bool negative) const {
    if (stochastic || mode == kRoundNearest) return false;
    return mode == kRoundToZero || (mode == kRoundDown) != negative;
  }
};

/// A binary format of `fraction_bits` behind the point and a least unit of 2^`least_unit`.
struct NarrowFormat {
  int fraction_bits;
  int least_unit;
};

/// The magnitude of a finite value in units of its last place, and what those units are.
struct Places {
  double count;
  int unit;
};
inline Places places_of(double value, const NarrowFormat& format, const Rounding& rounding,
                        U32 random) {
  const double magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 1 - format.fraction_bits, format.least_unit);
  const double places = std::ldexp(magnitude, -unit);
  const double whole = std::floor(places);
  const bool up = rounding.goes_up(whole, places - whole, std::signbit(value), random);
  return {up ? whole + 1.0 : whole, unit};
}

/// Overflow is an infinity, or NaN; of infinity too. Raises the host's overflow flag.
inline std::uint16_t rounded_half(float value, const Rounding& rounding, U32 random) {
  if (value != value) return kHalfNan;
  const bool negative = std::signbit(value);
  const std::uint16_t sign = negative ? 0x8000U : 0;
  const std::uint16_t beyond =
      rounding.nan_on_overflow ? kHalfNan : static_cast<std::uint16_t>(sign | 0x7c00U);
  if (std::isinf(value)) return beyond;
  const Places places =
      places_of(value, {.fraction_bits = 10, .least_unit = -24}, rounding, random);
  if (std::ldexp(places.count, places.unit) > 65504.0) {
    std::feraiseexcept(FE_OVERFLOW);
    if (rounding.stops_at_greatest(negative)) return static_cast<std::uint16_t>(sign | 0x7bffU);
    return beyond;
  }
  // A carry into the exponent is right as it is.
  const auto count = static_cast<U32>(places.count);
  const auto exponent = static_cast<U32>(places.unit + 24);
  return static_cast<std::uint16_t>(sign | (count < 0x400U ? count : (exponent << 10) + count));
}

/// The two f8 formats: no infinities, one zero, NaN 0x80. 1.4.3 has a bias of 8, 1.5.2 one of 16
/// (arXiv 2206.02915; openxla/stablehlo rfcs/20230321-fp8_fnuz.md).
enum class Quarter : std::uint8_t { kF152, kF143 };

constexpr std::uint8_t kQuarterNan = 0x80;

inline float float_of_quarter(std::uint8_t bits, Quarter format) {
  if (bits == kQuarterNan) return std::bit_cast<float>(kFloatNan);
  const int fraction_bits = format == Quarter::kF143 ? 3 : 2;
  const int least_unit = format == Quarter::kF143 ? -10 : -17;
  const int exponent = (bits & 0x7f) >> fraction_bits;
  int count = bits & ((1 << fraction_bits) - 1);
  if (exponent != 0) count += 1 << fraction_bits;
  const float magnitude =
      std::ldexp(static_cast<float>(count), least_unit + (exponent == 0 ? 0 : exponent - 1));
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

/// Beyond the greatest: NaN when FP_CTL.NANOO says so, otherwise the greatest; of infinity too.
inline std::uint8_t rounded_quarter(float value, Quarter format, const Rounding& rounding,
                                    U32 random) {
  if (value != value) return kQuarterNan;
  const NarrowFormat narrow =
      format == Quarter::kF143 ? NarrowFormat{3, -10} : NarrowFormat{2, -17};
  const std::uint8_t sign = std::signbit(value) ? 0x80U : 0;
  const auto beyond = [&] {
    return rounding.nan_on_overflow ? kQuarterNan : static_cast<std::uint8_t>(sign | 0x7fU);
  };
  if (std::isinf(value)) return beyond();
  const Places places = places_of(value, narrow, rounding, random);
  const double greatest = format == Quarter::kF143 ? 240.0 : 57344.0;
  if (std::ldexp(places.count, places.unit) > greatest) {
    std::feraiseexcept(FE_OVERFLOW);
    return beyond();
  }
  const auto count = static_cast<U32>(places.count);
  if (count == 0) return 0;
  const auto exponent = static_cast<U32>(places.unit - narrow.least_unit);
  const U32 one = 1U << narrow.fraction_bits;
  return static_cast<std::uint8_t>(
      sign | (count < one ? count : (exponent << narrow.fraction_bits) + count));
}

}  // namespace superstep::isa
