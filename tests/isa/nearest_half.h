#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace superstep::testing {

/// The f16 nearest to `value`, from the definition of the format.
inline std::uint32_t nearest_half(long double value) {
  if (std::isnan(value)) return 0x7e00U;
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
  const long double magnitude = std::fabs(value);
  if (magnitude >= 65520.0L) return sign | 0x7c00U;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const auto places = static_cast<std::uint32_t>(std::rint(std::ldexp(magnitude, -unit)));
  // A carry into the exponent is right as it is.
  return sign |
         (places < 0x400U ? places : ((static_cast<std::uint32_t>(unit + 24) << 10) + places));
}

}  // namespace superstep::testing
