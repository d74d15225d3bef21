#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace superstep {

/// The distance of a number from the exact one in units of the exact one's last place, where an
/// infinite one is the power of 2 behind the largest number; infinite where only one is a number,
/// or signs differ, of zeros too.
template <class Float>
double ulp_error(Float found, long double exact) {
  using Limits = std::numeric_limits<Float>;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(found)) {
    return std::isnan(exact) == std::isnan(found) ? 0 : kInfinity;
  }
  if (std::signbit(found) != std::signbit(exact)) return kInfinity;
  const long double most = std::ldexp(1.0L, Limits::max_exponent);
  const long double expected = std::min(std::fabs(exact), most);
  const long double size = std::min(std::fabs(static_cast<long double>(found)), most);
  constexpr int kLeast = Limits::min_exponent - 1;
  const int exponent =
      expected == 0 ? kLeast : std::clamp(std::ilogb(expected), kLeast, Limits::max_exponent - 1);
  return static_cast<double>(std::fabs(size - expected) /
                             std::ldexp(1.0L, exponent + 1 - Limits::digits));
}

}  // namespace superstep
