#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace superstep {

/// The reference of the hyperbolic arc tangent. Where a part is no number it is XLA's on a CPU, to
/// which a NaN is negative and -0 is not: the angle is right, and the length has a number only
/// where the other part is infinite.
inline std::complex<double> hyperbolic_arc_tangent(std::complex<double> z) {
  if (!std::isnan(z.real()) && !std::isnan(z.imag())) return std::atanh(z);
  const bool has_end = std::isinf(z.real()) || std::isinf(z.imag());
  const double length = has_end ? 0 : std::numeric_limits<double>::quiet_NaN();
  constexpr double kRight = std::numbers::pi / 2;
  return {z.real() >= 0 ? length : -length, z.imag() >= 0 ? kRight : -kRight};
}

}  // namespace superstep
