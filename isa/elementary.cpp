#include "isa/elementary.h"

namespace superstep::isa::elementary {

namespace {

/// A sum of two f64, the second one below the last place of the first: about 106 bits.
struct Twin {
  double high, low;
};

/// |a| >= |b|.
Twin quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
Twin sum_of(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
Twin product_of(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}
Twin operator+(Twin a, Twin b) {
  const Twin high = sum_of(a.high, b.high), low = sum_of(a.low, b.low);
  const Twin sum = quick_sum(high.high, high.low + low.high);
  return quick_sum(sum.high, sum.low + low.low);
}
Twin operator-(Twin a) { return {-a.high, -a.low}; }
Twin operator*(Twin a, Twin b) {
  const Twin product = product_of(a.high, b.high);
  return quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
Twin operator/(Twin a, Twin b) {
  const double first = a.high / b.high;
  const Twin rest = a + -(Twin{first, 0.0} * b);
  const double second = rest.high / b.high;
  const Twin last = rest + -(Twin{second, 0.0} * b);
  return quick_sum(first, second) + Twin{last.high / b.high, 0.0};
}

constexpr Twin kOne = {1.0, 0.0};
constexpr Twin kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr double kLn2Rest = 0x1.7b57a079a1934p-111;
constexpr Twin kOneOverLn2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

/// e^r for |r| <= 0.35: the series to r^27 / 27!.
Twin exp_near_zero(Twin r) {
  Twin sum = kOne;
  for (int n = 27; n >= 1; --n) sum = kOne + r * sum / Twin{static_cast<double>(n), 0.0};
  return sum;
}

Twin scaled(Twin value, double exponent) {
  const int places = static_cast<int>(exponent);
  return {std::ldexp(value.high, places), std::ldexp(value.low, places)};
}

Twin exp_of(double x) {
  const double k = std::floor(x * kOneOverLn2.high + 0.5);
  const Twin r = (Twin{x, 0.0} + -product_of(k, kLn2.high)) +
                 -(product_of(k, kLn2.low) + Twin{k * kLn2Rest, 0.0});
  return scaled(exp_near_zero(r), k);
}

/// One step of Halley's iteration, which gives three times the precision.
Twin log_of(double x) {
  const Parts parts = parts_of(x);
  const double near = parts.exponent * kLn2.high + log_near_one(parts.fraction);
  const Twin power = exp_of(near);
  const Twin rest = (Twin{x, 0.0} + -power) / (Twin{x, 0.0} + power);
  return Twin{near, 0.0} + Twin{2.0 * rest.high, 2.0 * rest.low};
}

/// Of a value that is no f64 the neighbour whose last bit is set.
double to_odd(Twin value) {
  const Twin sum = quick_sum(value.high, value.low);
  if (sum.low == 0.0) return sum.high;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(sum.high);
  if ((sum.low < 0.0) != (sum.high < 0.0)) --bits;
  return std::bit_cast<double>(bits | 1U);
}

}  // namespace

const double kTiny = 0x1p-1000, kBelowOne = 0x1.fffffffffffffp-1, kAboveOne = 0x1.0000000000001p+0;

double exact_exponential(double x) { return to_odd(exp_of(x)); }

double exact_exponential_2(double x) {
  const double k = std::floor(x + 0.5);
  return to_odd(scaled(exp_near_zero(Twin{x - k, 0.0} * kLn2), k));
}

double exact_logarithm(double x) { return to_odd(log_of(x)); }

double exact_logarithm_2(double x) {
  const Parts parts = parts_of(x);
  return to_odd(Twin{parts.exponent, 0.0} + log_of(parts.fraction) * kOneOverLn2);
}

double exact_hyperbolic_tangent(double x) {
  const Twin e = exp_of(-2.0 * std::fabs(x));
  const double magnitude = to_odd((kOne + -e) / (kOne + e));
  return std::copysign(magnitude, x);
}

double exact_logistic_function(double x) { return to_odd(kOne / (kOne + exp_of(-x))); }

/// One step of Newton's iteration.
double exact_reciprocal_root(double x) {
  const double near = 1.0 / std::sqrt(x);
  const Twin rest = kOne + -(Twin{x, 0.0} * product_of(near, near));
  return to_odd(Twin{near, 0.0} + Twin{0.5 * near, 0.0} * rest);
}

}  // namespace superstep::isa::elementary
