#include "compiler/vertex/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace superstep::vertex {
namespace {

constexpr std::uint64_t kHalfInfinity = 0x7c00;

double half_to_double(std::uint64_t bits) {
  const auto exponent = static_cast<int>((bits >> 10) & 0x1f);
  const auto mantissa = static_cast<double>(bits & 0x3ff);
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else {
    magnitude = std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint64_t half_of(double value) {
  if (std::isnan(value)) return 0x7e00;
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | kHalfInfinity;
  // One step of the result at this magnitude; scaling by it is exact, so only nearbyint rounds.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 11, -24);
  const auto steps = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  // A carry out of the mantissa runs into the exponent field, as it should.
  const std::uint64_t field =
      steps < 1024 ? steps : (static_cast<std::uint64_t>(step + 24) << 10) + steps;
  return sign | field;
}

int width(DType dtype) { return dtype == DType::kI1 ? 1 : static_cast<int>(8 * size_of(dtype)); }

}  // namespace

std::int64_t int_of(DType dtype, std::uint64_t bits) {
  const int unused = 64 - width(dtype);
  const std::uint64_t shifted = bits << unused;
  return is_signed(dtype) ? static_cast<std::int64_t>(shifted) >> unused
                          : static_cast<std::int64_t>(shifted >> unused);
}

std::uint64_t bits_of_int(DType dtype, std::int64_t value) {
  const int unused = 64 - width(dtype);
  return static_cast<std::uint64_t>(value) << unused >> unused;
}

double float_of(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kF16) return half_to_double(bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

std::uint64_t bits_of_float(DType dtype, double value) {
  if (dtype == DType::kF16) return half_of(value);
  if (std::isnan(value)) return 0x7fc00000;
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint64_t convert_bits(DType from, DType to, std::uint64_t bits) {
  if (!is_float(from)) {
    const std::int64_t value = int_of(from, bits);
    if (is_float(to)) return bits_of_float(to, static_cast<double>(value));
    return to == DType::kI1 ? std::uint64_t{value != 0} : bits_of_int(to, value);
  }
  const double value = float_of(from, bits);
  if (is_float(to)) return bits_of_float(to, value);
  if (to == DType::kI1) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  const int magnitude_bits = width(to) - (is_signed(to) ? 1 : 0);
  const double highest = std::ldexp(1.0, magnitude_bits) - 1;
  const double lowest = is_signed(to) ? -highest - 1 : 0;
  const double clamped = std::clamp(std::trunc(value), lowest, highest);
  return bits_of_int(to, static_cast<std::int64_t>(clamped));
}

}  // namespace superstep::vertex
