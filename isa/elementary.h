#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace superstep::isa {

// Elementary functions of the transcendental instructions: additions, multiplications and divisions
// of f64 in a fixed order, so that every host gives the same bits (the libraries of hosts differ in
// the last place). Relative errors stay below 2^-50, and one rounding to f32 or f16 follows.

namespace elementary {

inline constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
/// ln 2 as a sum: the first part has 32 bits, so that a multiple by an exponent is exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;

/// e^r - 1 for |r| <= 0.35: the series to r^14 / 14!.
inline double exp_minus_one_near_zero(double r) {
  double sum = 0.0;
  for (unsigned n = 14; n >= 2; --n) {
    static constexpr std::array<double, 15> kInverseFactorials = [] {
      std::array<double, 15> out{};
      double factorial = 1.0;
      for (unsigned i = 0; i < 15; ++i) {
        if (i > 1) factorial *= i;
        out[i] = 1.0 / factorial;
      }
      return out;
    }();
    sum = sum * r + kInverseFactorials[n];
  }
  return r + r * r * sum;
}

/// ln m for sqrt(1/2) <= m <= sqrt(2): twice the series of atanh (m - 1) / (m + 1).
inline double log_near_one(double m) {
  const double f = (m - 1.0) / (m + 1.0);
  const double square = f * f;
  double sum = 0.0;
  for (unsigned n = 25; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  return 2.0 * f + 2.0 * f * sum;
}

/// Beyond f32, so that rounding overflows; infinite if `x` is.
inline double beyond_f32(double x) { return x * 0x1p800; }

struct Parts {
  double fraction;  ///< sqrt(1/2) to sqrt(2)
  double exponent;
};
inline Parts parts_of(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < 0x1.6a09e667f3bcdp-1) {
    fraction *= 2.0;
    --exponent;
  }
  return {fraction, static_cast<double>(exponent)};
}

/// What a logarithm gives for arguments that have none; raises the exceptions of the host.
inline double log_of_exception(double x) {
  if (x == 0.0) return -1.0 / (x * x);
  if (x < 0.0) return (x - x) / (x - x);
  return x;
}
inline bool has_logarithm(double x) { return x > 0.0 && x <= std::numeric_limits<double>::max(); }

}  // namespace elementary

/// e^x; above 700 a number beyond f32 and below -700 zero.
inline double exponential(double x) {
  if (x != x) return x;
  if (x > 700.0) return elementary::beyond_f32(x);
  if (x < -700.0) return 0.0;
  const double k = std::floor(x * elementary::kInverseLn2 + 0.5);
  const double r = (x - k * elementary::kLn2High) - k * elementary::kLn2Low;
  return std::ldexp(1.0 + elementary::exp_minus_one_near_zero(r), static_cast<int>(k));
}

/// 2^x; above 1,000 a number beyond f32 and below -1,000 zero.
inline double exponential_2(double x) {
  if (x != x) return x;
  if (x > 1000.0) return elementary::beyond_f32(x);
  if (x < -1000.0) return 0.0;
  const double k = std::floor(x + 0.5);
  const double r = (x - k) * elementary::kLn2High + (x - k) * elementary::kLn2Low;
  return std::ldexp(1.0 + elementary::exp_minus_one_near_zero(r), static_cast<int>(k));
}

inline double logarithm(double x) {
  if (!elementary::has_logarithm(x)) return elementary::log_of_exception(x);
  const elementary::Parts parts = elementary::parts_of(x);
  return parts.exponent * elementary::kLn2High +
         (parts.exponent * elementary::kLn2Low + elementary::log_near_one(parts.fraction));
}

inline double logarithm_2(double x) {
  if (!elementary::has_logarithm(x)) return elementary::log_of_exception(x);
  const elementary::Parts parts = elementary::parts_of(x);
  return parts.exponent + elementary::log_near_one(parts.fraction) * elementary::kInverseLn2;
}

inline double hyperbolic_tangent(double x) {
  if (x != x) return x;
  const double twice = -2.0 * std::fabs(x);
  double magnitude = 0.0;
  if (twice > -0.35) {
    const double e = elementary::exp_minus_one_near_zero(twice);
    magnitude = -e / (e + 2.0);
  } else {
    const double e = exponential(twice);
    magnitude = (1.0 - e) / (1.0 + e);
  }
  return std::copysign(magnitude, x);
}

inline double logistic_function(double x) { return 1.0 / (1.0 + exponential(-x)); }

}  // namespace superstep::isa
