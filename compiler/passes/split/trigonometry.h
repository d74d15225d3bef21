#pragma once

#include <array>

#include "compiler/passes/split/exponentials.h"

// Trigonometric functions of f64 and their inverses.

namespace superstep::split {

/// sin(x) / x and cos(x) over x^2 for |x| <= pi / 4, atan(x) / x over x^2 for |x| <= tan(pi / 8).
inline constexpr std::array kSine =
    series<12>([](std::size_t n) { return (n % 2 == 0 ? 1 : -1) * inverse_factorial(2 * n + 1); });
inline constexpr std::array kCosine =
    series<12>([](std::size_t n) { return (n % 2 == 0 ? 1 : -1) * inverse_factorial(2 * n); });
inline constexpr std::array kArcTangent = series<26>(
    [](std::size_t n) { return (n % 2 == 0 ? 1 : -1) / static_cast<long double>(2 * n + 1); });
inline constexpr long double kPi = 3.141592653589793238462643L;

/// The bits of 2 / pi behind the point, after three words of zeros.
inline constexpr auto kTwoOverPi = std::to_array<std::uint32_t>(
    {0,          0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
     0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea,
     0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
     0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b,
     0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
     0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046});

/// 128 bits.
template <class Word>
struct Long {
  Wide<Word> low, high;
};
template <class Word>
Long<Word> operator+(Long<Word> a, Long<Word> b) {
  const Wide<Word> low = a.low + b.low;
  return {low, a.high + b.high + widened(one_where(below(low, a.low)))};
}

/// An angle as a number of quarter turns, modulo 4, and what is left, which is at most pi / 4.
template <class Word>
struct Angle {
  Word quarters;
  Extended<Word> rest;
};

/// Payne and Hanek's reduction, of a number of any size without its sign.
template <class Word>
Angle<Word> reduced(Extended<Word> x) {
  const Word zero = constant(x.sign, 0), bias = constant(x.sign, kDoubleBias);
  const auto is_small = is_below_power(x, -1);
  // The bit of the table from which on 2 / pi times x is less than 4, behind 2^30.
  constexpr std::uint32_t kOrigin = kDoubleBias + 65 - 96;
  const Word first = select(is_small, zero, x.exponent - constant(zero, kOrigin));
  const Word number = shr(first, 5), shift = first & constant(zero, 31);
  constexpr std::size_t kWords = 7, kPlaces = kTwoOverPi.size() - kWords + 1;
  std::vector<Word> words(kWords + 2, zero);
  words[kWords] = number;
  words = loop(kPlaces, words, [](const std::vector<Word>& v, auto turn) {
    std::vector<Word> next = v;
    const auto is_here = equal(v[kWords], v[kWords + 1]);
    for (std::size_t i = 0; i < kWords; ++i) {
      next[i] = select(is_here, turn.of(std::span(kTwoOverPi).subspan(i, kPlaces), v[i]), v[i]);
    }
    next[kWords + 1] = v[kWords + 1] + constant(v[kWords], 1);
    return next;
  });
  // Six words, the lowest first.
  const auto window = [&](std::size_t i) {
    const Word next = shr(shr(words[6 - i], 1), constant(zero, 31) - shift);
    return shl(words[5 - i], shift) | next;
  };
  const Word low = x.significand.low, high = x.significand.high;
  const Wide<Word> none = constant(zero, std::uint64_t{0});
  // Parts of the product from its third word on.
  const auto at_third = [&](Wide<Word> part) { return Long<Word>{part, none}; };
  const auto at_fourth = [&](Wide<Word> part) {
    return Long<Word>{{zero, part.low}, {part.high, zero}};
  };
  const auto at_fifth = [&](Wide<Word> part) { return Long<Word>{none, part}; };
  Long<Word> turns = at_third(product(low, window(2))) + at_third(product(high, window(1))) +
                     at_third(widened(product(low, window(1)).high)) +
                     at_third(widened(product(high, window(0)).high));
  turns = turns + at_fourth(product(low, window(3))) + at_fourth(product(high, window(2)));
  turns = turns + at_fifth(product(low, window(4))) + at_fifth(product(high, window(3)));
  turns = turns + at_fifth({zero, low * window(5) + high * window(4)});

  const Word quarters = shr(turns.high.high + constant(zero, 0x20000000U), 30);
  const Wide<Word> rest{turns.high.low, turns.high.high - shl(quarters, 30)};
  const Word sign = sign_of(rest.high);
  const Wide<Word> both{sign, sign};
  const Wide<Word> upper = rest ^ both, lower = turns.low ^ both;
  const Word leading = clz(upper);
  const Wide<Word> bits = shl(upper, leading) | shr(lower, constant(zero, 64) - leading);
  const Extended<Word> fraction =
      normalised(sign, bias + constant(zero, 1) - leading, bits) * (kPi / 2);
  return {select(is_small, zero, quarters), select(is_small, magnitude(x), fraction)};
}

/// The sine of so many quarter turns and the rest.
template <class Word>
Extended<Word> sine(Angle<Word> angle) {
  const Word one = constant(angle.quarters, 1);
  const auto is_odd = any(angle.quarters & one);
  const Extended<Word> sum = polynomial(angle.rest * angle.rest, is_odd, kCosine, kSine);
  const Extended<Word> y = select(is_odd, sum, sum * angle.rest);
  const Word turned = constant(one, 0) - (shr(angle.quarters, 1) & one);
  return with_sign(y, y.sign ^ turned);
}

/// What the function of an angle gives for the number that it was made of.
template <class Word>
Wide<Word> of_angle(Wide<Word> a, Extended<Word> y) {
  return select(is_nan(a) | is_infinite(a), double_nan(a.low), packed(y));
}
template <class Word>
Wide<Word> sine_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), y = sine(reduced(x));
  return of_angle(a, with_sign(y, y.sign ^ x.sign));
}
template <class Word>
Wide<Word> cosine_double(Wide<Word> a) {
  const Angle<Word> angle = reduced(extended(a));
  return of_angle(a, sine<Word>({angle.quarters + constant(a.low, 1), angle.rest}));
}
template <class Word>
Wide<Word> tangent_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  const Angle<Word> angle = reduced(x);
  const Extended<Word> square = angle.rest * angle.rest;
  const Extended<Word> s = angle.rest * polynomial(square, kSine);
  const Extended<Word> c = polynomial(square, kCosine);
  const auto is_odd = any(angle.quarters & constant(a.low, 1));
  const Extended<Word> y = select(is_odd, -c, s) / select(is_odd, s, c);
  return of_angle(a, with_sign(y, y.sign ^ x.sign));
}

/// The angle of a point from the positive axis, by the signs of both.
template <class Word>
Extended<Word> arc_tangent(Extended<Word> y, Extended<Word> x) {
  const Extended<Word> height = magnitude(y), width = magnitude(x);
  const auto is_steep = is_smaller(width, height);
  const Extended<Word> one = extended_constant(x.sign, 1);
  const Extended<Word> longer = select(is_steep, height, width);
  const Extended<Word> large = select(is_zero(longer), one, longer);
  const Extended<Word> small = select(is_steep, width, height);
  const auto is_diagonal = is_smaller(large * 0.414213562373095048802L, small);
  const Extended<Word> zero = extended_constant(x.sign, 0);
  const Extended<Word> ratio =
      (small - select(is_diagonal, large, zero)) / (large + select(is_diagonal, small, zero));
  const Extended<Word> arc = ratio * polynomial(ratio * ratio, kArcTangent);
  const Extended<Word> octant = select(is_diagonal, arc + kPi / 4, arc);
  const Extended<Word> quadrant = select(is_steep, -octant + kPi / 2, octant);
  return with_sign(select(any(x.sign), -quadrant + kPi, quadrant), y.sign);
}
template <class Word>
Wide<Word> atan2_double(Wide<Word> a, Wide<Word> b) {
  // An infinite number is larger than any other, and as large as another one.
  const auto operand = [](Wide<Word> x) {
    const Extended<Word> number = extended(x);
    const Extended<Word> infinite{number.sign, constant(x.low, 1U << 16), number.significand};
    return select(is_infinite(x), infinite, number);
  };
  const Wide<Word> y = packed(arc_tangent(operand(a), operand(b)));
  return select(is_nan(a) | is_nan(b), double_nan(a.low), y);
}

/// sqrt(1 - x^2); 0 beyond 1.
template <class Word>
Extended<Word> other_leg(Extended<Word> x) {
  const Extended<Word> one = extended_constant(x.sign, 1), m = magnitude(x);
  const Extended<Word> square = (one - m) * (one + m);
  return square_root(select(any(square.sign), extended_constant(x.sign, 0), square));
}
template <class Word>
Wide<Word> of_sine(Wide<Word> a, Extended<Word> y) {
  const auto is_beyond = is_smaller(extended_constant(a.low, 1), extended(a));
  return select(is_nan(a) | is_beyond, double_nan(a.low), packed(y));
}
template <class Word>
Wide<Word> asin_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  return of_sine(a, arc_tangent(x, other_leg(x)));
}
template <class Word>
Wide<Word> acos_double(Wide<Word> a) {
  const Extended<Word> x = extended(a);
  return of_sine(a, arc_tangent(other_leg(x), x));
}

}  // namespace superstep::split
