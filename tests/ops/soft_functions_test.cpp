// Functions of f64 on words of the host, against those of the host's long double.

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "compiler/passes/split/error_functions.h"
#include "compiler/passes/split/host_word.h"
#include "compiler/passes/split/roundings.h"
#include "compiler/passes/split/trigonometry.h"

namespace superstep::split {
namespace {

using Number = Wide<HostWord>;
using Real = long double;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {0.0,
                               -0.0,
                               1,
                               -1,
                               kInfinity,
                               -kInfinity,
                               NAN,
                               0x1p-1074,
                               -0x1p-1074,
                               0x1p-1030,
                               0x1.fffffffffffffp1023,
                               -0x1.fffffffffffffp1023,
                               0.5,
                               -0.5,
                               0.75,
                               2,
                               -2,
                               3,
                               1e16,
                               9007199254740993.0,
                               -2.5,
                               710,
                               -745.1,
                               709.78,
                               28,
                               -28};

Number words_of(double x) { return wide(std::bit_cast<std::uint64_t>(x)); }
double double_of(Number x) { return std::bit_cast<double>(number(x)); }

/// Numbers between -1 and 1, of ordinary size, of all sizes, any bits, near -1 and 1.
double sample(std::mt19937_64& random, int kind) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  const double sign = (random() & 1) != 0 ? 1 : -1;
  switch (kind) {
    case 0:
      return sign * unit;
    case 1:
      return sign * unit * 10;
    case 2:
      return sign * std::exp((unit - 0.5) * 40);
    case 3:
      return std::bit_cast<double>(random());
    case 4:
      return sign * unit * 700;
    default:
      return sign * (1 + sign * std::exp(-unit * 40));
  }
}

/// The distance of a number from the exact one in units of its last place; infinite where only one
/// is a number, or zeros differ.
double error_of(double found, Real exact) {
  const auto expected = static_cast<double>(exact);
  if (std::isnan(expected)) return std::isnan(found) ? 0 : kInfinity;
  if (std::isinf(expected) || std::isinf(found)) return found == expected ? 0 : kInfinity;
  if (std::isnan(found)) return kInfinity;
  if (expected == 0) {
    return found == 0 && std::signbit(found) == std::signbit(expected) ? 0 : kInfinity;
  }
  const double size = std::fabs(expected);
  return static_cast<double>(std::fabs(Real{found} - exact) /
                             (std::nextafter(size, kInfinity) - Real{size}));
}

void expect_near(const char* name, const std::function<Number(Number)>& function,
                 const std::function<Real(Real)>& exact, double ulp) {
  std::mt19937_64 random(3);
  double worst = 0, at = 0;
  const auto attempt = [&](double x) {
    const double error = error_of(double_of(function(words_of(x))), exact(x));
    if (error > worst) {
      worst = error;
      at = x;
    }
  };
  for (const double x : kSpecial) attempt(x);
  for (int i = 0; i < 6000; ++i) attempt(sample(random, i % 6));
  EXPECT_LE(worst, ulp) << name << " of " << at;
}
void expect_near(const char* name, const std::function<Number(Number, Number)>& function,
                 const std::function<Real(Real, Real)>& exact, double ulp) {
  std::mt19937_64 random(3);
  double worst = 0, first = 0, second = 0;
  const auto attempt = [&](double x, double y) {
    const double error = error_of(double_of(function(words_of(x), words_of(y))), exact(x, y));
    if (error > worst) {
      worst = error;
      first = x;
      second = y;
    }
  };
  for (const double x : kSpecial) {
    for (const double y : kSpecial) attempt(x, y);
  }
  for (int i = 0; i < 3600; ++i) attempt(sample(random, i % 6), sample(random, i / 6 % 6));
  EXPECT_LE(worst, ulp) << name << " of " << first << " and " << second;
}

using One = Number (*)(Number);
using Two = Number (*)(Number, Number);

TEST(SoftFunctions, OfOneNumberAreThoseOfTheHost) {
  const auto test = [](const char* name, One function, Real (*exact)(Real), double ulp) {
    expect_near(name, function, exact, ulp);
  };
  test(
      "exp", exponential_double, [](Real x) { return std::exp(x); }, 0.51);
  test(
      "expm1", exponential_minus_one_double, [](Real x) { return std::expm1(x); }, 0.51);
  test(
      "log", logarithm_double, [](Real x) { return std::log(x); }, 0.51);
  test(
      "log1p", logarithm_plus_one_double, [](Real x) { return std::log1p(x); }, 0.51);
  test(
      "cbrt", cbrt_double, [](Real x) { return std::cbrt(x); }, 1);
  test(
      "rsqrt", rsqrt_double, [](Real x) { return 1 / std::sqrt(x); }, 0.51);
  test(
      "logistic", logistic_double, [](Real x) { return 1 / (1 + std::exp(-x)); }, 0.51);
  test(
      "tanh", tanh_double, [](Real x) { return std::tanh(x); }, 0.51);
  test(
      "sinh", sinh_double, [](Real x) { return std::sinh(x); }, 0.51);
  test(
      "cosh", cosh_double, [](Real x) { return std::cosh(x); }, 0.51);
  test(
      "asinh", asinh_double, [](Real x) { return std::asinh(x); }, 0.51);
  test(
      "acosh", acosh_double, [](Real x) { return std::acosh(x); }, 0.51);
  test(
      "atanh", atanh_double, [](Real x) { return std::atanh(x); }, 0.51);
  test(
      "sin", sine_double, [](Real x) { return std::sin(x); }, 0.51);
  test(
      "cos", cosine_double, [](Real x) { return std::cos(x); }, 0.51);
  test(
      "tan", tangent_double, [](Real x) { return std::tan(x); }, 0.51);
  test(
      "asin", asin_double, [](Real x) { return std::asin(x); }, 0.51);
  test(
      "acos", acos_double, [](Real x) { return std::acos(x); }, 0.51);
  test(
      "erf", erf_double, [](Real x) { return std::erf(x); }, 0.51);
  test(
      "erfc", erfc_double, [](Real x) { return std::erfc(x); }, 1);
  test(
      "floor", floor_double, [](Real x) { return std::floor(x); }, 0);
  test(
      "ceil", ceil_double, [](Real x) { return std::ceil(x); }, 0);
  test(
      "round", round_away_double, [](Real x) { return std::round(x); }, 0);
  test(
      "nearbyint", round_even_double, [](Real x) { return std::nearbyint(x); }, 0);
}

TEST(SoftFunctions, OfTwoNumbersAreThoseOfTheHost) {
  const auto test = [](const char* name, Two function, Real (*exact)(Real, Real), double ulp) {
    expect_near(name, function, exact, ulp);
  };
  test(
      "pow", power_double, [](Real x, Real y) { return std::pow(x, y); }, 2.5);
  test(
      "atan2", atan2_double, [](Real y, Real x) { return std::atan2(y, x); }, 0.51);
  test(
      "fmod", remainder_double, [](Real x, Real y) { return std::fmod(x, y); }, 0);
  test(
      "nextafter", next_after_double,
      [](Real x, Real y) {
        return Real{std::nextafter(static_cast<double>(x), static_cast<double>(y))};
      },
      0);
}

TEST(SoftFunctions, InvertTheErrorFunction) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i) {
    const double y = sample(random, 0) * 5.8;
    // From where the complement says how far it is from 1.
    const Real x = std::erf(Real{y});
    const auto argument = static_cast<double>(x);
    if (std::fabs(argument) == 1) continue;
    const Real slope = 1.128379167095512573896L * std::exp(-Real{y} * y);
    const Real exact = y + (Real{argument} - x) / slope * (1 + y * (Real{argument} - x) / slope);
    const double bound = std::fabs(y) < 3 ? 1 : 1 + 1e-19 / static_cast<double>(slope) / 1e-16;
    EXPECT_LE(error_of(double_of(erf_inv_double(words_of(argument))), exact), bound) << argument;
  }
}

}  // namespace
}  // namespace superstep::split
