#include "compiler/import/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace superstep::import {

double parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    const bool tiny =
        text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    if (text.front() == '-') value = -value;
  }
  return value;
}

std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude == 0) return sign;
  // One unit in the last place is 2^(exponent - 10); subnormal halves share that of 2^-14.
  int exponent = std::max(std::ilogb(magnitude), -14);
  const auto steps =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A carry out of the fraction moves into the exponent by itself.
  const auto base = static_cast<std::uint32_t>(exponent + 14) << 10;
  return static_cast<std::uint16_t>(sign | (base + steps));
}

}  // namespace superstep::import
