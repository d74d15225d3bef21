#pragma once

#include <array>
#include <cstddef>

#include "compiler/passes/split/soft_extended.h"

// Exponentials, logarithms and what is made of them, of f64.

namespace superstep::split {

template <std::size_t kSize, class Coefficient>
constexpr std::array<long double, kSize> series(Coefficient coefficient) {
  std::array<long double, kSize> all{};
  for (std::size_t i = 0; i < kSize; ++i) all.at(i) = coefficient(i);
  return all;
}
constexpr long double inverse_factorial(std::size_t n) {
  long double value = 1;
  for (std::size_t i = 2; i <= n; ++i) value /= static_cast<long double>(i);
  return value;
}
/// e^x for |x| < 0.35, (e^x - 1) / x for |x| < 1/2, atanh(x) / x over x^2 for |x| < 0.18: each off
/// by less than 2^-64.
inline constexpr std::array kExponential =
    series<17>([](std::size_t n) { return inverse_factorial(n); });
inline constexpr std::array kExponentialMinusOne =
    series<18>([](std::size_t n) { return inverse_factorial(n + 1); });
inline constexpr std::array kLogarithm =
    series<13>([](std::size_t n) { return 1 / static_cast<long double>(2 * n + 1); });
/// The logarithm of 2 to 53 bits, so that whole multiples of it are exact, and the rest.
inline constexpr long double kLogOfTwo = 0x1.62e42fefa39efp-1L;
inline constexpr long double kLogOfTwoRest = 2.319046813846299615494855e-17L;

/// Beyond 4096 in size as of 4096, which is far from any double.
template <class Word>
Extended<Word> exponential(Extended<Word> x) {
  const Word bias = constant(x.sign, kDoubleBias), zero = constant(x.sign, 0);
  const Word exponent = select(is_below_power(x, 12), x.exponent, constant(bias, kDoubleBias + 12));
  const Extended<Word> doublings =
      Extended<Word>{zero, exponent, x.significand} * 1.442695040888963407359925L;
  // The nearest integer.
  const Word half_units =
      shr(doublings.significand, bias + constant(bias, 62) - doublings.exponent).low;
  const Word k = shr(half_units + constant(bias, 1), 1);
  // |x| - k log(2) in units of 2^-62, modulo 4.
  const Word left = exponent - bias - constant(bias, 1);
  const Wide<Word> fraction = shl(x.significand, left) | shr(x.significand, zero - left);
  const Wide<Word> log = constant(bias, std::uint64_t{0x2c5c85fdf473de6a});  // log(2) 2^62
  const Wide<Word> log_rest = widened(product(k, constant(bias, 0xf278ece6U)).high);
  const Wide<Word> rest = fraction - widened(k) * log - log_rest;
  const Word sign = sign_of(rest.high);
  const Extended<Word> reduced =
      normalised(sign ^ x.sign, bias + constant(bias, 1), with_sign(rest, sign));
  const Extended<Word> power = polynomial(reduced, kExponential);
  return {zero, power.exponent + ((k ^ x.sign) - x.sign), power.significand};
}

template <class Word>
Extended<Word> exponential_minus_one(Extended<Word> x) {
  const Extended<Word> near = x * polynomial(x, kExponentialMinusOne);
  return select(is_below_power(x, -1), near, exponential(x) + -1.0L);
}

/// A number as 2^doublings (1 + rest), where 1 + rest is from sqrt(1/2) to sqrt(2).
template <class Word>
struct LogarithmParts {
  Word doublings;
  Extended<Word> rest;
};
template <class Word>
LogarithmParts<Word> logarithm_parts(Extended<Word> x) {
  const Word bias = constant(x.sign, kDoubleBias), zero = constant(x.sign, 0);
  const Wide<Word> root = constant(x.sign, std::uint64_t{0xb504f333f9de6484});  // sqrt(2) 2^63
  const auto is_upper = !below(x.significand, root);
  const Word up = one_where(is_upper);
  const Wide<Word> without{x.significand.low, x.significand.high ^ constant(zero, 0x80000000U)};
  const Extended<Word> rest =
      normalised(zero - up, bias - up, select(is_upper, negated(x.significand), without));
  return {x.exponent - bias + up, rest};
}
template <class Word>
Extended<Word> logarithm(LogarithmParts<Word> x) {
  const Extended<Word> place = x.rest / (x.rest + 2.0L);
  const Extended<Word> log = scaled(place * polynomial(place * place, kLogarithm), 1);
  const Word sign = sign_of(x.doublings);
  const Extended<Word> k = extended_integer(sign, (x.doublings ^ sign) - sign);
  return k * kLogOfTwo + (k * kLogOfTwoRest + log);
}
/// Of positive numbers.
template <class Word>
Extended<Word> logarithm(Extended<Word> x) {
  return logarithm(logarithm_parts(x));
}
/// Of numbers above -1.
template <class Word>
Extended<Word> logarithm_plus_one(Extended<Word> x) {
  const LogarithmParts<Word> far = logarithm_parts(x + 1.0L);
  const auto is_near = is_below_power(x, -2);
  return logarithm<Word>(
      {select(is_near, constant(x.sign, 0), far.doublings), select(is_near, x, far.rest)});
}

template <class Word>
Wide<Word> exponential_double(Wide<Word> a) {
  return select(is_nan(a), double_nan(a.low), packed(exponential(extended(a))));
}
template <class Word>
Wide<Word> exponential_minus_one_double(Wide<Word> a) {
  return select(is_nan(a), double_nan(a.low), packed(exponential_minus_one(extended(a))));
}

/// What a logarithm gives: NaN below its range, -infinity at its end.
template <class Word, class Boolean>
Wide<Word> logarithm_result(Wide<Word> a, Extended<Word> result, Boolean is_below, Boolean is_end) {
  const Word none = constant(a.low, 0);
  const Wide<Word> finite = select(is_infinite(a), infinity_of(none), packed(result));
  const Wide<Word> y = select(is_end, infinity_of(inverted(none)), finite);
  return select(is_nan(a) | is_below, double_nan(a.low), y);
}
template <class Word>
Wide<Word> logarithm_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  const auto is_end = is_zero_double(a);
  return logarithm_result(a, logarithm(x), any(x.sign) & (!is_end), is_end);
}
template <class Word>
Wide<Word> logarithm_plus_one_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), one = extended_constant(a.low, 1);
  const auto is_end = equal(x.exponent, one.exponent) & equal(x.significand, one.significand);
  const auto is_negative = any(x.sign);
  return logarithm_result(a, logarithm_plus_one(x), is_negative & is_smaller(one, x),
                          is_negative & is_end);
}

/// By XLA's rules, which are those of C.
template <class Word>
Wide<Word> power_double(Wide<Word> a, Wide<Word> b) {
  const Extended<Word> x = extended(a), y = extended(b), one = extended_constant(a.low, 1);
  const Wide<Word> general = packed(exponential(y * logarithm(magnitude(x))));
  const Word none = constant(a.low, 0);
  const auto x_is_zero = is_zero_double(a), x_is_infinite = is_infinite(a);
  const auto x_is_negative = any(x.sign), y_is_negative = any(y.sign);
  const auto grows = (x_is_infinite & (!y_is_negative)) | (x_is_zero & y_is_negative);
  const Wide<Word> extreme = select(grows, infinity_of(none), zero_of(none));
  const Wide<Word> size = select(x_is_zero | x_is_infinite, extreme, general);
  // The place of the last bit of an integer: all above are even.
  const Word bias = constant(a.low, kDoubleBias);
  const Word place = bias + constant(bias, 63) - y.exponent;
  const auto is_small = is_below_power(y, 64);
  const Wide<Word> shifted = shr(y.significand, place);
  const auto is_whole = (!is_small) | (equal(shl(shifted, place), y.significand));
  const auto is_odd = is_small & is_whole & any(shifted.low & constant(bias, 1));
  const Word sign = select(is_odd, x.sign, none);
  const Wide<Word> signed_size{size.low, size.high | (sign & constant(sign, 0x80000000U))};
  const auto is_undefined =
      is_nan(a) | is_nan(b) | (x_is_negative & (!is_whole) & (!(x_is_zero | x_is_infinite)));
  const auto is_one = equal(a, packed(one)) | is_zero_double(b);
  return select(is_one, packed(one), select(is_undefined, double_nan(a.low), signed_size));
}

template <class Word>
Wide<Word> cbrt_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  const Extended<Word> third = logarithm(magnitude(x)) * (1.0L / 3);
  const Wide<Word> root = packed(with_sign(exponential(third), x.sign));
  const Wide<Word> result = select(is_infinite(a) | is_zero_double(a), a, root);
  return select(is_nan(a), double_nan(a.low), result);
}
template <class Word>
Wide<Word> rsqrt_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), one = extended_constant(a.low, 1);
  const auto at_zero = is_zero_double(a);
  const Extended<Word> root = square_root(select(at_zero, one, magnitude(x)));
  const Word none = constant(a.low, 0);
  const Wide<Word> finite = select(is_infinite(a), zero_of(none), packed(reciprocal(root)));
  const Wide<Word> result = select(at_zero, infinity_of(x.sign), finite);
  return select(is_nan(a) | (any(x.sign) & (!at_zero)), double_nan(a.low), result);
}
template <class Word>
Wide<Word> logistic_double(Wide<Word> a) {
  const Extended<Word> sum = exponential(-extended(a)) + 1.0L;
  return select(is_nan(a), double_nan(a.low), packed(reciprocal(sum)));
}

template <class Word>
Wide<Word> tanh_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  const Extended<Word> rise = exponential_minus_one(scaled(magnitude(x), 1));
  const Extended<Word> y = with_sign(rise / (rise + 2.0L), x.sign);
  return select(is_nan(a), double_nan(a.low), packed(y));
}
template <class Word>
Wide<Word> sinh_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  const Extended<Word> rise = exponential_minus_one(magnitude(x));
  const Extended<Word> twice = rise + rise / (rise + 1.0L);
  return select(is_nan(a), double_nan(a.low), packed(with_sign(scaled(twice, -1), x.sign)));
}
template <class Word>
Wide<Word> cosh_double(Wide<Word> a) {
  const Extended<Word> power = exponential(magnitude(extended(a)));
  return select(is_nan(a), double_nan(a.low), packed(scaled(power + reciprocal(power), -1)));
}
template <class Word>
Wide<Word> asinh_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), m = magnitude(x), square = m * m;
  const Extended<Word> excess = square / (square_root(square + 1.0L) + 1.0L);
  const Wide<Word> y = packed(with_sign(logarithm_plus_one(m + excess), x.sign));
  return select(is_nan(a), double_nan(a.low), select(is_infinite(a), a, y));
}
template <class Word>
Wide<Word> acosh_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), one = extended_constant(a.low, 1);
  const auto is_below = any(x.sign) | is_smaller(x, one);
  const Extended<Word> above = select(is_below, one, x) - one;
  const Extended<Word> y = logarithm_plus_one(above + square_root(above * (above + 2.0L)));
  const Wide<Word> result = select(is_infinite(a), infinity_of(constant(a.low, 0)), packed(y));
  return select(is_nan(a) | is_below, double_nan(a.low), result);
}
template <class Word>
Wide<Word> atanh_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), one = extended_constant(a.low, 1);
  const auto is_inside = is_smaller(x, one);
  const Extended<Word> m = select(is_inside, magnitude(x), extended_constant(a.low, 0));
  const Extended<Word> y = scaled(logarithm_plus_one(scaled(m, 1) / (one - m)), -1);
  const Wide<Word> result = select(is_inside, packed(with_sign(y, x.sign)), infinity_of(x.sign));
  return select(is_nan(a) | is_smaller(one, x), double_nan(a.low), result);
}

}  // namespace superstep::split
