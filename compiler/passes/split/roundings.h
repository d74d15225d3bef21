#pragma once

#include "compiler/passes/split/soft_extended.h"

// What rounds, cuts and steps f64.

namespace superstep::split {

/// Without its sign.
template <class Word>
Wide<Word> magnitude_bits(Wide<Word> a) {
  return {a.low, magnitude_high(a)};
}
/// With the sign of `like`.
template <class Word>
Wide<Word> signed_like(Wide<Word> magnitude, Wide<Word> like) {
  return {magnitude.low, magnitude.high | (like.high & constant(like.high, 0x80000000U))};
}

/// An integer next to a number. `addend` says what to add to the bits, so that those of the
/// fraction can be cut off: by the mask of these, the last bit in front of them, and whether a
/// number is above 1/2 and at least so, which decides below 1.
template <class Word, class Addend, class IsOne>
Wide<Word> rounded_to_integer(Wide<Word> a, Addend addend, IsOne is_one) {
  const Wide<Word> size = magnitude_bits(a);
  const Word exponent = shr(size.high, 20), bias = constant(exponent, kDoubleBias);
  const Word places = constant(bias, kDoubleBias + 52) - exponent;
  const Wide<Word> unit = shl(widened(constant(bias, 1)), places);
  const Wide<Word> mask = unit - widened(constant(bias, 1));
  const Wide<Word> sum = size + addend(mask, unit, any(size & unit));
  const Wide<Word> one = constant(bias, std::uint64_t{kDoubleBias} << 52);
  const Wide<Word> small = select(is_one(size), one, constant(bias, std::uint64_t{0}));
  const Wide<Word> number = select(below(exponent, bias), small, sum & inverted(mask));
  const auto is_whole = !below(exponent, constant(bias, kDoubleBias + 52));
  const Wide<Word> result = signed_like(select(is_whole, size, number), a);
  return select(is_nan(a), double_nan(a.low), result);
}

/// Away from zero where `sign` says so, else towards it.
template <class Word>
Wide<Word> rounded_away(Wide<Word> a, Word is_away) {
  const Wide<Word> chosen{is_away, is_away};
  return rounded_to_integer(
      a, [&](Wide<Word> mask, Wide<Word>, auto) { return mask & chosen; },
      [&](Wide<Word> size) { return any(size & chosen); });
}
template <class Word>
Wide<Word> floor_double(Wide<Word> a) {
  return rounded_away(a, sign_of(a.high));
}
template <class Word>
Wide<Word> ceil_double(Wide<Word> a) {
  return rounded_away(a, inverted(sign_of(a.high)));
}
inline constexpr std::uint64_t kHalfBits = std::uint64_t{kDoubleBias - 1} << 52;
template <class Word>
Wide<Word> round_away_double(Wide<Word> a) {
  return rounded_to_integer(
      a, [](Wide<Word>, Wide<Word> unit, auto) { return shr(unit, 1U); },
      [&](Wide<Word> size) { return !below(size, constant(a.low, kHalfBits)); });
}
template <class Word>
Wide<Word> round_even_double(Wide<Word> a) {
  return rounded_to_integer(
      a,
      [&](Wide<Word>, Wide<Word> unit, auto is_odd) {
        const Wide<Word> one = widened(constant(a.low, 1));
        return shr(unit, 1U) - one + widened(one_where(is_odd));
      },
      [&](Wide<Word> size) { return below(constant(a.low, kHalfBits), size); });
}

/// To fewer bits of exponent and fraction, to nearest even; what is not normal then becomes 0.
template <class Word>
Wide<Word> reduced_double(Wide<Word> a, std::uint32_t exponent_bits, std::uint32_t fraction_bits) {
  const Word none = constant(a.low, 0);
  Wide<Word> size = magnitude_bits(a);
  if (fraction_bits < 52) {
    const std::uint64_t unit = std::uint64_t{1} << (52 - fraction_bits);
    const Word is_odd = one_where(any(size & constant(none, unit)));
    const Wide<Word> sum = size + constant(none, unit / 2 - 1) + widened(is_odd);
    size = sum & constant(none, ~(unit - 1));
  }
  if (exponent_bits < 11) {
    const std::uint64_t largest = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
    const Wide<Word> end = constant(none, (kDoubleBias + largest + 1) << 52);
    const Wide<Word> start = constant(none, (kDoubleBias + 1 - largest) << 52);
    size = select(below(size, end), size, infinity_of(none));
    size = select(below(size, start), constant(none, std::uint64_t{0}), size);
  }
  const Wide<Word> of_nan = fraction_bits > 0 ? double_nan(none) : infinity_of(none);
  return select(is_nan(a), of_nan, signed_like(size, a));
}

/// The number next to the first one towards the second; where equal, the second.
template <class Word>
Wide<Word> next_after_double(Wide<Word> a, Wide<Word> b) {
  const Wide<Word> size = magnitude_bits(a), one = widened(constant(a.low, 1));
  const auto shrinks = below(magnitude_bits(b), size) | any(sign_of(a.high ^ b.high));
  const Wide<Word> moved = signed_like(select(shrinks, size - one, size + one), a);
  const Wide<Word> next = select(is_zero(size), signed_like(one, b), moved);
  const Wide<Word> number = select(equal_double(a, b), b, next);
  return select(are_ordered(a, b), number, double_nan(a.low));
}

/// Of a division towards zero, exact.
template <class Word>
Wide<Word> remainder_double(Wide<Word> a, Wide<Word> b) {
  const Extended<Word> x = extended(a), y = extended(b);
  const Word zero = constant(a.low, 0);
  const auto is_smaller_number = is_smaller(x, y);
  // 11 bits of the quotient a turn, as many as a word has beside a significand.
  constexpr std::uint32_t kBits = 11, kTurns = (2098 + kBits - 1) / kBits;
  const Word distance = select(is_smaller_number, zero, x.exponent - y.exponent);
  const Wide<Word> start = shr(x.significand, kBits);
  const Wide<Word> divisor = shr(y.significand, kBits);
  const Wide<Word> first = divide(start, divisor).remainder;
  const std::vector<Word> words = {first.low, first.high, divisor.low, divisor.high, distance};
  const auto last = loop(kTurns, words, [](const std::vector<Word>& v, auto) {
    const Word all = constant(v[4], kBits);
    const Word bits = select(below(v[4], all), v[4], all);
    const Wide<Word> by{v[2], v[3]}, rest = shl(Wide<Word>{v[0], v[1]}, bits);
    const Wide<Word> next = divide(rest, by).remainder;
    return std::vector<Word>{next.low, next.high, v[2], v[3], v[4] - bits};
  });
  const Extended<Word> rest =
      normalised(x.sign, y.exponent + constant(zero, kBits), Wide<Word>{last[0], last[1]});
  const Wide<Word> result = select(is_smaller_number | is_infinite(b), a, packed(rest));
  const auto is_undefined = is_nan(a) | is_nan(b) | is_infinite(a) | is_zero_double(b);
  return select(is_undefined, double_nan(a.low), result);
}

}  // namespace superstep::split
