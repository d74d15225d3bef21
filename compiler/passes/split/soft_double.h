#pragma once

#include "compiler/passes/split/words.h"

/// IEEE 754 double precision on pairs of words: to nearest even, subnormals kept, every NaN the
/// canonical one.
namespace superstep::split {

constexpr std::uint32_t kDoubleBias = 1023, kDoubleInfinity = 0x7ff00000;

template <class Word>
Wide<Word> double_nan(Word like) {
  return constant(like, std::uint64_t{0x7ff80000} << 32);
}

/// A finite number: significand / 2^63 * 2^(exponent - bias). The leading bit of the significand is
/// its highest but for 0; the exponent is in two's complement.
template <class Word>
struct Unpacked {
  Word sign;  ///< all bits or none
  Word exponent;
  Wide<Word> significand;
};

template <class Word>
Unpacked<Word> unpacked(Wide<Word> x) {
  const Word exponent = shr(x.high, 20) & constant(x.high, 0x7ff);
  const Word is_tiny = one_where(is_zero(exponent));
  const Word one = constant(x.high, 1);
  const Word implicit = shl(one - is_tiny, 20);
  const Wide<Word> fraction{x.low, (x.high & constant(x.high, 0xfffff)) | implicit};
  const Word shift = clz(fraction);
  return {sign_of(x.high), exponent + is_tiny + constant(x.high, 11) - shift, shl(fraction, shift)};
}

template <class Word>
Word magnitude_high(Wide<Word> x) {
  return x.high & constant(x.high, 0x7fffffff);
}
template <class Word>
auto is_nan(Wide<Word> x) {
  const Word infinity = constant(x.high, kDoubleInfinity), high = magnitude_high(x);
  return below(infinity, high) | (equal(infinity, high) & any(x.low));
}
template <class Word>
auto is_infinite(Wide<Word> x) {
  return is_zero((magnitude_high(x) ^ constant(x.high, kDoubleInfinity)) | x.low);
}
template <class Word>
auto is_zero_double(Wide<Word> x) {
  return is_zero(magnitude_high(x) | x.low);
}
template <class Word>
Wide<Word> infinity_of(Word sign) {
  return {constant(sign, 0),
          constant(sign, kDoubleInfinity) | (sign & constant(sign, 0x80000000U))};
}
template <class Word>
Wide<Word> zero_of(Word sign) {
  return {constant(sign, 0), sign & constant(sign, 0x80000000U)};
}

/// The nearest double; the significand's lowest bit may stand for more that follows.
template <class Word>
Wide<Word> packed(Unpacked<Word> x) {
  const Word zero = constant(x.exponent, 0), one = constant(x.exponent, 1);
  const auto is_tiny = any(shr(x.exponent - one, 31));
  const Wide<Word> significand = shr_sticky(x.significand, select(is_tiny, one - x.exponent, zero));
  const Word rest = significand.low & constant(zero, 0x7ff), half = constant(zero, 0x400);
  const Wide<Word> kept = shr(significand, 11U);
  const auto is_odd = any(kept.low & one);
  const Word up = one_where(below(half, rest) | (equal(half, rest) & is_odd));
  // The leading bit, or a carry into its place, adds one to the exponent.
  const Word exponent = select(is_tiny, zero, x.exponent - one);
  const Wide<Word> sum = kept + widened(up);
  const Word high = sum.high + shl(exponent, 20);
  const auto is_too_large =
      below(constant(zero, 0x7fd), exponent) | !below(high, constant(zero, kDoubleInfinity));
  const Wide<Word> finite{sum.low, high | (x.sign & constant(zero, 0x80000000U))};
  return select(is_too_large, infinity_of(x.sign), finite);
}

template <class Word>
Wide<Word> negated_double(Wide<Word> x) {
  const Wide<Word> result{x.low, x.high ^ constant(x.high, 0x80000000U)};
  return select(is_nan(x), double_nan(x.low), result);
}
template <class Word>
Wide<Word> abs_double(Wide<Word> x) {
  const Wide<Word> result{x.low, magnitude_high(x)};
  return select(is_nan(x), double_nan(x.low), result);
}

template <class Word>
Wide<Word> add_double(Wide<Word> a, Wide<Word> b) {
  const auto swaps =
      below(Wide<Word>{a.low, magnitude_high(a)}, Wide<Word>{b.low, magnitude_high(b)});
  const Wide<Word> larger = select(swaps, b, a), smaller = select(swaps, a, b);
  const Unpacked<Word> x = unpacked(larger), y = unpacked(smaller);
  // One bit of room for the carry.
  const Wide<Word> aligned = shr_sticky(shr(y.significand, 1U), x.exponent - y.exponent);
  const Wide<Word> sum = shr(x.significand, 1U) + with_sign(aligned, x.sign ^ y.sign);
  const Word shift = clz(sum), one = constant(shift, 1);
  const Wide<Word> finite = packed<Word>({x.sign, x.exponent + one - shift, shl(sum, shift)});
  const Wide<Word> result = select(is_zero(sum), zero_of(x.sign & y.sign), finite);
  const auto has_infinity = is_infinite(larger);
  const auto is_undefined =
      is_nan(a) | is_nan(b) | (has_infinity & is_infinite(smaller) & any(x.sign ^ y.sign));
  return select(is_undefined, double_nan(a.low), select(has_infinity, larger, result));
}
template <class Word>
Wide<Word> subtract_double(Wide<Word> a, Wide<Word> b) {
  return add_double(a, {b.low, b.high ^ constant(b.high, 0x80000000U)});
}

/// A product or quotient of this sign: infinite, 0, undefined where it would be both, or `finite`.
template <class Word, class Bit>
Wide<Word> product_of(Wide<Word> a, Wide<Word> b, Word sign, Bit is_large, Bit is_null,
                      Wide<Word> finite) {
  const auto is_undefined = is_nan(a) | is_nan(b) | (is_null & is_large);
  const Wide<Word> result =
      select(is_large, infinity_of(sign), select(is_null, zero_of(sign), finite));
  return select(is_undefined, double_nan(a.low), result);
}

template <class Word>
Wide<Word> multiply_double(Wide<Word> a, Wide<Word> b) {
  const Unpacked<Word> x = unpacked(a), y = unpacked(b);
  const Word sign = x.sign ^ y.sign;
  const Wide<Word> significand = product_sticky(x.significand, y.significand);
  const Word shift = clz(significand);
  const Word exponent = x.exponent + y.exponent - constant(sign, kDoubleBias - 1) - shift;
  const Wide<Word> finite = packed<Word>({sign, exponent, shl(significand, shift)});
  return product_of(a, b, sign, is_infinite(a) | is_infinite(b),
                    is_zero_double(a) | is_zero_double(b), finite);
}

/// A digit of 32 bits of a quotient: `rest`, which is below the divisor, is replaced by what is
/// left. The divisor's highest bit is set (Knuth's algorithm D).
template <class Word>
Word divide_digit(Wide<Word>& rest, Wide<Word> divisor) {
  const Word zero = constant(rest.low, 0);
  Word digit =
      select(below(rest.high, divisor.high), divide_long(rest, divisor.high), inverted(zero));
  const Wide<Word> low_product = product(digit, divisor.low);
  Word low = zero - low_product.low;
  Wide<Word> high = rest - product(digit, divisor.high) - widened(low_product.high) -
                    widened(one_where(any(low_product.low)));
  // The estimate is too large by two at most.
  for (int correction = 0; correction < 2; ++correction) {
    const Word is_negative = sign_of(high.high);
    digit = digit + is_negative;
    const Word added = divisor.low & is_negative;
    low = low + added;
    high = high + widened(divisor.high & is_negative) + widened(one_where(below(low, added)));
  }
  rest = {low, high.low};
  return digit;
}

template <class Word>
Wide<Word> divide_double(Wide<Word> a, Wide<Word> b) {
  const Unpacked<Word> x = unpacked(a), y = unpacked(b);
  const Word sign = x.sign ^ y.sign;
  Wide<Word> rest = shr(x.significand, 1U);
  const Word high = divide_digit(rest, y.significand);
  const Word low = divide_digit(rest, y.significand);
  const Wide<Word> quotient{low | one_where(any(rest)), high};
  const Word shift = clz(quotient);
  const Word exponent = x.exponent - y.exponent + constant(sign, kDoubleBias) - shift;
  const Wide<Word> finite = packed<Word>({sign, exponent, shl(quotient, shift)});
  return product_of(a, b, sign, is_infinite(a) | is_zero_double(b),
                    is_zero_double(a) | is_infinite(b), finite);
}

/// Square root rounded down, and what is left.
template <class Word>
struct Root {
  Word root, remainder;
};
/// Of a number of 2 * kBits bits whose upper two are not both 0 (Zimmermann's Karatsuba square
/// root): a root of half the bits, then a quotient by twice that.
template <int kBits, class Word>
Root<Word> square_root(Word x) {
  const Word one = constant(x, 1);
  if constexpr (kBits == 4) {
    Word root = constant(x, 8);
    for (std::uint32_t n = 9; n < 16; ++n) {
      root = root + one_where(!below(x, constant(x, n * n)));
    }
    return {root, x - root * root};
  } else {
    constexpr std::uint32_t kDigit = kBits / 2;
    const Word mask = constant(x, (1U << kDigit) - 1);
    const auto [upper, rest] = square_root<kBits / 2>(shr(x, 2 * kDigit));
    const Word dividend = shl(rest, kDigit) | (shr(x, kDigit) & mask);
    const Word digit = dividend / (upper + upper);
    const Word root = shl(upper, kDigit) + digit;
    const Word remainder =
        shl(dividend - digit * (upper + upper), kDigit) + (x & mask) - digit * digit;
    const Word is_negative = sign_of(remainder);
    return {root + is_negative, remainder + ((root + root - one) & is_negative)};
  }
}
/// The same of 64 bits: a root of 32.
template <class Word>
struct WideRoot {
  Word root;
  Wide<Word> remainder;
};
template <class Word>
WideRoot<Word> square_root(Wide<Word> x) {
  const auto [upper, rest] = square_root<16>(x.high);
  const Word twice = upper + upper;
  const Wide<Word> dividend = shl(widened(rest), 16U) | widened(shr(x.low, 16));
  const Word digit = divide_long(dividend, twice);
  const Word left = dividend.low - digit * twice;
  const Word half = constant(twice, 0xffff);
  const Wide<Word> root = shl(widened(upper), 16U) + widened(digit);
  const Wide<Word> remainder =
      (shl(widened(left), 16U) | widened(x.low & half)) - product(digit, digit);
  const Word is_negative = sign_of(remainder.high);
  const Wide<Word> sign{is_negative, is_negative};
  const Wide<Word> one = widened(constant(twice, 1));
  return {(root + sign).low, remainder + ((root + root - one) & sign)};
}

template <class Word>
Wide<Word> sqrt_double(Wide<Word> a) {
  const Unpacked<Word> x = unpacked(a);
  const Word one = constant(a.low, 1);
  // Of an even power of two.
  const Word sum = x.exponent + constant(one, kDoubleBias);
  const auto [upper, rest] = square_root(shr(x.significand, (sum & one) ^ one));
  // 24 bits more: the quotient by twice the root.
  const Wide<Word> dividend = shl(rest, 24U);
  const Word digit = divide_long(shr(dividend, 1U), upper);
  const Wide<Word> left = dividend - shl(product(digit, upper), 1U);
  const Wide<Word> root = shl(widened(upper), 24U) + widened(digit);
  const Wide<Word> remainder = shl(left, 24U) - product(digit, digit);
  const Word is_negative = sign_of(remainder.high);
  const Wide<Word> sign{is_negative, is_negative};
  Wide<Word> significand = shl(root + sign, 8U);
  significand.low = significand.low | one_where(any(remainder));
  const Wide<Word> finite = packed<Word>({constant(one, 0), shr(sum, 1), significand});
  const auto is_negative_number = any(x.sign) & !is_zero_double(a);
  const auto stays = is_zero_double(a) | is_infinite(a);
  return select(is_nan(a) | is_negative_number, double_nan(a.low), select(stays, a, finite));
}

/// Words that are ordered as unsigned numbers as the doubles are, -0 below +0.
template <class Word>
Wide<Word> ordered(Wide<Word> x) {
  const Word sign = sign_of(x.high);
  return {x.low ^ sign, x.high ^ (sign | constant(sign, 0x80000000U))};
}
template <class Word>
auto are_ordered(Wide<Word> a, Wide<Word> b) {
  return !(is_nan(a) | is_nan(b));
}
template <class Word>
auto equal_double(Wide<Word> a, Wide<Word> b) {
  return are_ordered(a, b) & (equal(a, b) | (is_zero_double(a) & is_zero_double(b)));
}
template <class Word>
auto below_double(Wide<Word> a, Wide<Word> b) {
  const auto are_zero = is_zero_double(a) & is_zero_double(b);
  return are_ordered(a, b) & (below(ordered(a), ordered(b)) & !are_zero);
}
template <class Word>
Wide<Word> minimum_double(Wide<Word> a, Wide<Word> b) {
  return select(are_ordered(a, b), select(below(ordered(a), ordered(b)), a, b), double_nan(a.low));
}
template <class Word>
Wide<Word> maximum_double(Wide<Word> a, Wide<Word> b) {
  return select(are_ordered(a, b), select(below(ordered(a), ordered(b)), b, a), double_nan(a.low));
}

/// Of the bits of an f32; exact.
template <class Word>
Wide<Word> double_of_single(Word x) {
  const Word infinity = constant(x, 0x7f800000), sign = sign_of(x);
  const Word magnitude = x & constant(x, 0x7fffffff);
  const Word exponent = shr(magnitude, 23);
  const Word is_tiny = one_where(is_zero(exponent)), one = constant(x, 1);
  const Word fraction = (x & constant(x, 0x7fffff)) | shl(one - is_tiny, 23);
  const Word shift = clz(fraction);
  const Word significand = shl(fraction, shift);
  // The leading bit adds one to the exponent.
  const Word biased = exponent + is_tiny + constant(x, kDoubleBias - 127 + 7) - shift;
  const Wide<Word> finite{shl(significand, 21), (shl(biased, 20) + shr(significand, 11)) |
                                                    (sign & constant(x, 0x80000000U))};
  const Wide<Word> number = select(is_zero(magnitude), zero_of(sign), finite);
  const Wide<Word> regular = select(equal(magnitude, infinity), infinity_of(sign), number);
  return select(below(infinity, magnitude), double_nan(x), regular);
}

/// The first 24 bits of a significand, to nearest even; with `to_odd`, the last one stands for what
/// follows too.
template <class Word>
Word single_significand(Wide<Word> significand, bool to_odd) {
  const Word kept = shr(significand.high, 8);
  const Word rest = significand.high & constant(kept, 0xff), half = constant(kept, 0x80);
  const auto has_more = any(significand.low);
  if (to_odd) return kept | one_where(any(rest) | has_more);
  const auto is_odd = any(kept & constant(kept, 1));
  return kept + one_where(below(half, rest) | (equal(half, rest) & (has_more | is_odd)));
}

/// The bits of the nearest f32; with `to_odd`, of one from which narrower floats are rounded right.
template <class Word>
Word single_of_double(Wide<Word> a, bool to_odd) {
  const Unpacked<Word> x = unpacked(a);
  const Word zero = constant(a.low, 0), one = constant(a.low, 1);
  const Word exponent = x.exponent - constant(zero, kDoubleBias - 127);
  const auto is_tiny = any(shr(exponent - one, 31));
  const Wide<Word> significand = shr_sticky(x.significand, select(is_tiny, one - exponent, zero));
  const Word biased = select(is_tiny, zero, exponent - one);
  const Word sum = shl(biased, 23) + single_significand(significand, to_odd);
  const Word infinity = constant(zero, 0x7f800000);
  const auto is_large = below(constant(zero, 0xfd), biased) | !below(sum, infinity);
  const Word magnitude = select(is_infinite(a), infinity,
                                select(is_zero_double(a), zero, select(is_large, infinity, sum)));
  const Word number = magnitude | (x.sign & constant(zero, 0x80000000U));
  return select(is_nan(a), constant(zero, 0x7fc00000), number);
}

/// Of an integer's magnitude; `sign` has all bits below zero.
template <class Word>
Wide<Word> double_of_integer(Wide<Word> magnitude, Word sign) {
  const Word shift = clz(magnitude);
  const Word exponent = constant(sign, kDoubleBias + 63) - shift;
  return select(is_zero(magnitude), zero_of(constant(sign, 0)),
                packed<Word>({sign, exponent, shl(magnitude, shift)}));
}

/// Truncated; from 2^`bits` on, or below -2^`bits`, the nearest integer of one sign bit and so many
/// others, of others alone without `has_sign`. NaN gives 0.
template <class Word>
Wide<Word> integer_of_double(Wide<Word> a, std::uint32_t bits, bool has_sign) {
  const Unpacked<Word> x = unpacked(a);
  const Word zero = constant(a.low, 0);
  const Wide<Word> whole = shr(x.significand, constant(zero, kDoubleBias + 63) - x.exponent);
  // Exponents below zero are those of subnormals.
  const auto is_large = !below(magnitude_high(a), constant(zero, (kDoubleBias + bits) << 20));
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
  const Wide<Word> above = constant(zero, most);
  const Wide<Word> below_it = has_sign ? constant(zero, ~most) : constant(zero, std::uint64_t{0});
  const Wide<Word> negative = has_sign ? negated(whole) : constant(zero, std::uint64_t{0});
  const auto is_positive = is_zero(x.sign);
  const Wide<Word> number =
      select(is_large, select(is_positive, above, below_it), select(is_positive, whole, negative));
  return select(is_nan(a), constant(zero, std::uint64_t{0}), number);
}

/// The bits of the nearest f32 of an integer's magnitude, or of one to odd as `single_of_double`.
template <class Word>
Word single_of_integer(Wide<Word> magnitude, Word sign, bool to_odd) {
  const Word shift = clz(magnitude);
  const Wide<Word> significand = shl(magnitude, shift);
  const Word one = constant(sign, 1);
  const Word exponent = constant(one, 127 + 62) - shift;
  const Word number = shl(exponent, 23) + single_significand(significand, to_odd);
  return select(is_zero(magnitude), constant(one, 0), number | (sign & constant(one, 0x80000000U)));
}

}  // namespace superstep::split
