#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace superstep::isa {

// Elementary functions of the transcendental instructions for arguments that are f32: additions,
// multiplications and divisions of f64 in a fixed order, so that every host gives the same bits
// (the libraries of hosts differ in the last place). Relative errors stay below 2^-48, whatever the
// direction in which the host rounds, and one rounding to f32 or f16 follows. A result so near to a
// tie or to a number of these formats that the error could decide is computed again, with twice the
// precision, and rounded to odd: so every result is correctly rounded in every mode.

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
  if (std::isless(x, 0.0)) return (x - x) / (x - x);
  return x;
}
/// Raises nothing, also of a NaN.
inline bool has_logarithm(double x) {
  return std::isgreater(x, 0.0) && x <= std::numeric_limits<double>::max();
}

/// Whether the last 28 bits, of which 29 are dropped for an f32, are nearly 0: a tie or a number of
/// f32 or f16, also of subnormal ones, is near.
inline bool is_unsettled(double value) {
  return ((std::bit_cast<std::uint64_t>(value) + 32) & 0xfffffffU) < 64;
}

// With an error below 2^-80, rounded to odd; of arguments that are neither special nor flat.
double exact_exponential(double x);
double exact_exponential_2(double x);
double exact_logarithm(double x);
double exact_logarithm_2(double x);
double exact_hyperbolic_tangent(double x);
double exact_logistic_function(double x);
double exact_reciprocal_root(double x);

/// What is positive and below every f32 that is not 0; what lies between 1 and its neighbours of
/// f32. No constants of the compiler: it would round them itself, to nearest.
extern const double kTiny, kBelowOne, kAboveOne;
/// e^x and 2^x where the last bits of a sum with 1 would not see x: on the same side of 1.
inline double beside_one(double x) { return x < 0.0 ? kBelowOne : kAboveOne; }
inline constexpr double kBesideOne = 0x1p-45;

}  // namespace elementary

/// e^x; beyond 700 and -700 what is beyond f32.
inline double exponential(double x) {
  if (x != x) return x;
  if (x == 0.0) return 1.0;
  if (std::fabs(x) < elementary::kBesideOne) return elementary::beside_one(x);
  if (x > 700.0) return elementary::beyond_f32(x);
  if (x < -700.0) return std::isinf(x) ? 0.0 : elementary::kTiny;
  const double k = std::floor(x * elementary::kInverseLn2 + 0.5);
  const double r = (x - k * elementary::kLn2High) - k * elementary::kLn2Low;
  const double near = std::ldexp(1.0 + elementary::exp_minus_one_near_zero(r), static_cast<int>(k));
  return elementary::is_unsettled(near) ? elementary::exact_exponential(x) : near;
}

/// 2^x; beyond 1,000 and -1,000 what is beyond f32.
inline double exponential_2(double x) {
  if (x != x) return x;
  if (x > 1000.0) return elementary::beyond_f32(x);
  if (x < -1000.0) return std::isinf(x) ? 0.0 : elementary::kTiny;
  const double k = std::floor(x + 0.5);
  if (x == k) return std::ldexp(1.0, static_cast<int>(k));
  if (std::fabs(x) < elementary::kBesideOne) return elementary::beside_one(x);
  const double r = (x - k) * elementary::kLn2High + (x - k) * elementary::kLn2Low;
  const double near = std::ldexp(1.0 + elementary::exp_minus_one_near_zero(r), static_cast<int>(k));
  return elementary::is_unsettled(near) ? elementary::exact_exponential_2(x) : near;
}

inline double logarithm(double x) {
  if (!elementary::has_logarithm(x)) return elementary::log_of_exception(x);
  if (x == 1.0) return 0.0;
  const elementary::Parts parts = elementary::parts_of(x);
  const double near =
      parts.exponent * elementary::kLn2High +
      (parts.exponent * elementary::kLn2Low + elementary::log_near_one(parts.fraction));
  return elementary::is_unsettled(near) ? elementary::exact_logarithm(x) : near;
}

inline double logarithm_2(double x) {
  if (!elementary::has_logarithm(x)) return elementary::log_of_exception(x);
  const elementary::Parts parts = elementary::parts_of(x);
  if (parts.fraction == 1.0) return parts.exponent;
  const double near =
      parts.exponent + elementary::log_near_one(parts.fraction) * elementary::kInverseLn2;
  return elementary::is_unsettled(near) ? elementary::exact_logarithm_2(x) : near;
}

inline double hyperbolic_tangent(double x) {
  const double magnitude = std::fabs(x);
  if (x != x || x == 0.0) return x;
  if (magnitude > 22.0) return std::copysign(std::isinf(x) ? 1.0 : elementary::kBelowOne, x);
  // x - x^3 / 3: less than x in what is the last bit here.
  if (magnitude < 0x1p-28) return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) - 1);
  double near = 0.0;
  if (magnitude < 0.175) {
    const double e = elementary::exp_minus_one_near_zero(-2.0 * magnitude);
    near = std::copysign(-e / (e + 2.0), x);
  } else {
    const double e = exponential(-2.0 * magnitude);
    near = std::copysign((1.0 - e) / (1.0 + e), x);
  }
  return elementary::is_unsettled(near) ? elementary::exact_hyperbolic_tangent(x) : near;
}

inline double logistic_function(double x) {
  if (x != x) return x;
  if (x == 0.0) return 0.5;
  if (std::fabs(x) < elementary::kBesideOne) return 0.5 * elementary::beside_one(x);
  if (x > 40.0) return std::isinf(x) ? 1.0 : elementary::kBelowOne;
  const double near = 1.0 / (1.0 + exponential(-x));
  return elementary::is_unsettled(near) && x > -700.0 ? elementary::exact_logistic_function(x)
                                                      : near;
}

/// The reciprocal of the square root; raises the exceptions of the host.
inline double reciprocal_root(double x) {
  const double near = 1.0 / std::sqrt(x);
  return elementary::has_logarithm(x) && elementary::is_unsettled(near)
             ? elementary::exact_reciprocal_root(x)
             : near;
}

}  // namespace superstep::isa
