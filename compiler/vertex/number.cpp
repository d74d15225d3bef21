#include "compiler/vertex/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/narrow_float.h"

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

/// By way of f32, as XLA rounds.
std::uint64_t brain_float_of(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

}  // namespace

std::int64_t int_of(DType dtype, std::uint64_t bits) {
  const int unused = 64 - bit_width(dtype);
  const std::uint64_t shifted = bits << unused;
  return is_signed(dtype) ? static_cast<std::int64_t>(shifted) >> unused
                          : static_cast<std::int64_t>(shifted >> unused);
}

std::uint64_t bits_of_int(DType dtype, std::int64_t value) {
  const int unused = 64 - bit_width(dtype);
  const std::uint64_t wrapped = static_cast<std::uint64_t>(value) << unused >> unused;
  // What is stored of it has its number.
  return is_narrow(dtype) && is_signed(dtype)
             ? static_cast<std::uint64_t>(int_of(dtype, wrapped)) & 0xff
             : wrapped;
}

double float_of(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kF64) return std::bit_cast<double>(bits);
  if (dtype == DType::kF16) return half_to_double(bits);
  if (is_narrow_float(dtype)) {
    return number_of(narrow_float(dtype), static_cast<std::uint32_t>(bits));
  }
  if (dtype == DType::kBF16) bits <<= 16;
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

std::uint64_t bits_of_float(DType dtype, double value) {
  if (dtype == DType::kF16) return half_of(value);
  if (dtype == DType::kBF16) return brain_float_of(value);
  if (is_narrow_float(dtype)) {
    return code_of(narrow_float(dtype), static_cast<float>(value));
  }
  if (dtype == DType::kF64) {
    return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value);
  }
  if (std::isnan(value)) return 0x7fc00000;
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

namespace {

/// An integer as a double that rounds to narrower floats as the integer itself does.
double sticky_double(DType dtype, std::uint64_t bits) {
  const std::int64_t value = int_of(dtype, bits);
  const bool negative = is_signed(dtype) && value < 0;
  std::uint64_t magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  // What is lost below the lowest of 53 bits stays visible in it.
  if (magnitude >> 53 != 0)
    magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0 ? 1U : 0U)) << 11;
  return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

std::uint64_t float_of_int(DType from, DType to, std::uint64_t bits) {
  if (to != DType::kF64) return bits_of_float(to, sticky_double(from, bits));
  const std::int64_t value = int_of(from, bits);
  return bits_of_float(to, is_signed(from)
                               ? static_cast<double>(value)
                               : static_cast<double>(static_cast<std::uint64_t>(value)));
}

/// Truncated and saturated; NaN gives 0.
std::uint64_t int_of_float(DType to, double value) {
  if (std::isnan(value)) return 0;
  const int magnitude_bits = bit_width(to) - (is_signed(to) ? 1 : 0);
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - magnitude_bits);
  if (value >= std::ldexp(1.0, magnitude_bits))
    return bits_of_int(to, static_cast<std::int64_t>(most));
  if (value >= 0) {
    return bits_of_int(to, static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
  }
  if (!is_signed(to)) return 0;
  const bool is_below = value < -std::ldexp(1.0, magnitude_bits);
  return bits_of_int(
      to, is_below ? static_cast<std::int64_t>(~most) : static_cast<std::int64_t>(value));
}

}  // namespace

std::uint64_t convert_bits(DType from, DType to, std::uint64_t bits) {
  if (!is_float(from)) {
    if (is_float(to)) return float_of_int(from, to, bits);
    const std::int64_t value = int_of(from, bits);
    return to == DType::kI1 ? std::uint64_t{value != 0} : bits_of_int(to, value);
  }
  const double value = float_of(from, bits);
  if (is_float(to)) return bits_of_float(to, value);
  if (to == DType::kI1) return value != 0 ? 1 : 0;
  return int_of_float(to, value);
}

}  // namespace superstep::vertex
