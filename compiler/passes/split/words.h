#pragma once

#include <cstdint>

/// Arithmetic on 64 bits in two words of 32. A `Word` is a tensor of ui32 of a graph, or a number
/// of the host; these functions of it are found by its type:
///
///     + - * / & | ^          as of unsigned numbers
///     shl(a, n), shr(a, n)   0 where n is 32 or more
///     below(a, b), equal(a, b)   booleans, which have & | !
///     select(boolean, a, b), one_where(boolean), clz(a), constant(a, number)
///
/// where `constant` gives a number as a word like `a`.
namespace superstep::split {

template <class Word>
struct Wide {
  Word low, high;
};

template <class Word>
Word shl(Word a, std::uint32_t n) {
  return shl(a, constant(a, n));
}
template <class Word>
Word shr(Word a, std::uint32_t n) {
  return shr(a, constant(a, n));
}
template <class Word>
auto is_zero(Word a) {
  return equal(a, constant(a, 0));
}
template <class Word>
auto any(Word a) {
  return !is_zero(a);
}
template <class Word>
Word inverted(Word a) {
  return a ^ constant(a, ~0U);
}
/// All bits where the sign bit is set, else none.
template <class Word>
Word sign_of(Word a) {
  return constant(a, 0) - shr(a, 31);
}

template <class Word>
Wide<Word> constant(Word like, std::uint64_t value) {
  return {constant(like, static_cast<std::uint32_t>(value)),
          constant(like, static_cast<std::uint32_t>(value >> 32))};
}
template <class Word>
Wide<Word> widened(Word a) {
  return {a, constant(a, 0)};
}

template <class Word>
Wide<Word> operator&(Wide<Word> a, Wide<Word> b) {
  return {a.low & b.low, a.high & b.high};
}
template <class Word>
Wide<Word> operator|(Wide<Word> a, Wide<Word> b) {
  return {a.low | b.low, a.high | b.high};
}
template <class Word>
Wide<Word> operator^(Wide<Word> a, Wide<Word> b) {
  return {a.low ^ b.low, a.high ^ b.high};
}
template <class Word>
Wide<Word> inverted(Wide<Word> a) {
  return {inverted(a.low), inverted(a.high)};
}
template <class Word>
Wide<Word> operator+(Wide<Word> a, Wide<Word> b) {
  const Word low = a.low + b.low;
  return {low, a.high + b.high + one_where(below(low, a.low))};
}
template <class Word>
Wide<Word> operator-(Wide<Word> a, Wide<Word> b) {
  return {a.low - b.low, a.high - b.high - one_where(below(a.low, b.low))};
}
template <class Word>
Wide<Word> negated(Wide<Word> a) {
  return constant(a.low, std::uint64_t{0}) - a;
}
/// Negated where `sign` has all bits, itself where it has none.
template <class Word>
Wide<Word> with_sign(Wide<Word> a, Word sign) {
  const Wide<Word> both{sign, sign};
  return (a ^ both) - both;
}

template <class Word>
auto equal(Wide<Word> a, Wide<Word> b) {
  return is_zero((a.low ^ b.low) | (a.high ^ b.high));
}
template <class Word>
auto is_zero(Wide<Word> a) {
  return is_zero(a.low | a.high);
}
template <class Word>
auto any(Wide<Word> a) {
  return any(a.low | a.high);
}
template <class Word>
auto below(Wide<Word> a, Wide<Word> b) {
  return below(a.high, b.high) | (equal(a.high, b.high) & below(a.low, b.low));
}
template <class Word>
Wide<Word> with_sign_flipped(Wide<Word> a) {
  return {a.low, a.high ^ constant(a.high, 0x80000000U)};
}
/// In two's complement.
template <class Word>
auto below_signed(Wide<Word> a, Wide<Word> b) {
  return below(with_sign_flipped(a), with_sign_flipped(b));
}
template <class Boolean, class Word>
Wide<Word> select(Boolean condition, Wide<Word> a, Wide<Word> b) {
  return {select(condition, a.low, b.low), select(condition, a.high, b.high)};
}

/// 0 where n is 64 or more. Of two shifts in opposite directions one is always by a huge amount.
template <class Word>
Wide<Word> shl(Wide<Word> a, Word n) {
  const Word word = constant(n, 32);
  return {shl(a.low, n), shl(a.high, n) | shr(a.low, word - n) | shl(a.low, n - word)};
}
template <class Word>
Wide<Word> shr(Wide<Word> a, Word n) {
  const Word word = constant(n, 32);
  return {shr(a.low, n) | shl(a.high, word - n) | shr(a.high, n - word), shr(a.high, n)};
}
template <class Word>
Wide<Word> shl(Wide<Word> a, std::uint32_t n) {
  return shl(a, constant(a.low, n));
}
template <class Word>
Wide<Word> shr(Wide<Word> a, std::uint32_t n) {
  return shr(a, constant(a.low, n));
}
/// Copies of the sign follow.
template <class Word>
Wide<Word> shr_signed(Wide<Word> a, Word n) {
  const Wide<Word> sign{sign_of(a.high), sign_of(a.high)};
  return shr(a ^ sign, n) ^ sign;
}
/// The lowest bit stays set where bits are lost.
template <class Word>
Wide<Word> shr_sticky(Wide<Word> a, Word n) {
  const Wide<Word> kept = shr(a, n);
  const Word lost = one_where(!equal(shl(kept, n), a));
  return {kept.low | lost, kept.high};
}
/// 64 for 0.
template <class Word>
Word clz(Wide<Word> a) {
  return select(is_zero(a.high), clz(a.low) + constant(a.low, 32), clz(a.high));
}

/// The whole product of two words.
template <class Word>
Wide<Word> product(Word a, Word b) {
  const Word half = constant(a, 0xffff);
  const Word a_low = a & half, a_high = shr(a, 16), b_low = b & half, b_high = shr(b, 16);
  const Word middle = a_high * b_low + shr(a_low * b_low, 16);
  const Word carried = a_low * b_high + (middle & half);
  return {a * b, a_high * b_high + shr(middle, 16) + shr(carried, 16)};
}
template <class Word>
Wide<Word> operator*(Wide<Word> a, Wide<Word> b) {
  const Wide<Word> low = product(a.low, b.low);
  return {low.low, low.high + a.low * b.high + a.high * b.low};
}
/// The upper half of the whole product, and in its lowest bit whether the lower half has any.
template <class Word>
Wide<Word> product_sticky(Wide<Word> a, Wide<Word> b) {
  const Wide<Word> low = product(a.low, b.low);
  const Wide<Word> left = product(a.high, b.low) + widened(low.high);
  const Wide<Word> right = product(a.low, b.high) + widened(left.low);
  const Wide<Word> high = product(a.high, b.high) + widened(left.high) + widened(right.high);
  return {high.low | one_where(any(low.low | right.low)), high.high};
}

/// Quotient of 64 bits and one word that is above the upper one of them (Knuth's algorithm D with
/// digits of 16 bits; Warren, Hacker's Delight 9-4).
template <class Word>
Word divide_long(Wide<Word> a, Word b) {
  const Word half = constant(b, 0xffff), zero = constant(b, 0);
  const Word shift = clz(b);
  const Word divisor = shl(b, shift);
  const Word first = shr(divisor, 16), second = divisor & half;
  const Wide<Word> dividend = shl(a, shift);
  // The next digit of the quotient, estimated by the first digit of the divisor.
  const auto digit = [&](Word rest, Word next) {
    Word quotient = rest / first;
    Word remainder = rest - quotient * first;
    for (int correction = 0; correction < 2; ++correction) {
      const auto is_digit = below(quotient, half + constant(b, 1));
      const auto fits = below(remainder, half + constant(b, 1));
      const auto too_much = below(shl(remainder, 16) | next, quotient * second);
      const auto is_above = fits & ((!is_digit) | too_much);
      quotient = quotient - one_where(is_above);
      remainder = remainder + select(is_above, first, zero);
    }
    return quotient;
  };
  const Word next = shr(dividend.low, 16);
  const Word high = digit(dividend.high, next);
  const Word rest = (shl(dividend.high, 16) | next) - high * divisor;
  const Word low = digit(rest, dividend.low & half);
  return shl(high, 16) + low;
}

template <class Word>
struct WideDivision {
  Wide<Word> quotient, remainder;
};
/// x / 0 gives all ones, x % 0 gives x (Warren, Hacker's Delight 9-5).
template <class Word>
WideDivision<Word> divide(Wide<Word> a, Wide<Word> b) {
  const Word zero = constant(a.low, 0), one = constant(a.low, 1);
  const auto is_short = is_zero(b.high);
  const Word divisor = select(is_zero(b.low), one, b.low);
  const Word upper = a.high / divisor;
  // Long divisors: by their first 32 bits.
  const Word shift = clz(b.high);
  const Wide<Word> half = shr(a, 1U);
  const Wide<Word> dividend{select(is_short, a.low, half.low),
                            select(is_short, a.high - upper * divisor, half.high)};
  const Word quotient = divide_long(dividend, select(is_short, divisor, shl(b, shift).high));
  const Word estimate = shr(quotient, constant(shift, 31) - shift);
  const Word below_it = estimate - one_where(any(estimate));
  const auto one_more = !below(a - widened(below_it) * b, b);
  const Wide<Word> by_long{below_it + one_where(one_more), zero};
  Wide<Word> result = select(is_short, Wide<Word>{quotient, upper}, by_long);
  const auto by_zero = is_zero(b);
  result = select(by_zero, constant(a.low, ~std::uint64_t{0}), result);
  return {result, select(by_zero, a, a - result * b)};
}

}  // namespace superstep::split
