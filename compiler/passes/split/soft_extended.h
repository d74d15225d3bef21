#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "compiler/passes/split/soft_double.h"
#include "compiler/passes/split/word_loop.h"

/// Numbers of 64 significant bits and exponents of 32, of which functions of f64 are made: an
/// operation rounds towards zero and is off by less than 2^-62 of its result. There are no infinite
/// ones and no NaN; 0 has a significand of 0 and an exponent below all others.
namespace superstep::split {

template <class Word>
using Extended = Unpacked<Word>;

constexpr std::int32_t kExponentOfZero = -(1 << 20);

inline std::uint32_t word_of(std::int32_t number) { return static_cast<std::uint32_t>(number); }

/// `significand` / 2^63 * 2^(exponent - bias), whatever its leading bit.
template <class Word>
Extended<Word> normalised(Word sign, Word exponent, Wide<Word> significand) {
  const Word shift = clz(significand);
  const Word zero = constant(sign, word_of(kExponentOfZero));
  return {sign, select(is_zero(significand), zero, exponent - shift), shl(significand, shift)};
}
/// A finite double. An infinite one gives 2^1024.
template <class Word>
Extended<Word> extended(Wide<Word> x) {
  const Unpacked<Word> number = unpacked(x);
  const Word zero = constant(x.low, word_of(kExponentOfZero));
  return {number.sign, select(is_zero(number.significand), zero, number.exponent),
          number.significand};
}

/// The parts of a constant.
struct ExtendedParts {
  std::uint32_t sign, exponent;
  std::uint64_t significand;

  explicit ExtendedParts(long double value) : sign(std::signbit(value) ? ~0U : 0U) {
    int above = 0;
    const long double fraction = std::frexp(std::fabs(value), &above);
    significand = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    exponent = word_of(value == 0 ? kExponentOfZero : above - 1 + static_cast<int>(kDoubleBias));
  }
};
template <class Word>
Extended<Word> extended_constant(Word like, long double value) {
  const ExtendedParts parts(value);
  return {constant(like, parts.sign), constant(like, parts.exponent),
          constant(like, parts.significand)};
}
/// A word as an unsigned number.
template <class Word>
Extended<Word> extended_integer(Word sign, Word magnitude) {
  return normalised(sign, constant(sign, kDoubleBias + 63), widened(magnitude));
}

template <class Boolean, class Word>
Extended<Word> select(Boolean condition, Extended<Word> a, Extended<Word> b) {
  return {select(condition, a.sign, b.sign), select(condition, a.exponent, b.exponent),
          select(condition, a.significand, b.significand)};
}
/// In two's complement.
template <class Word>
auto below_signed(Word a, Word b) {
  const Word highest = constant(a, 0x80000000U);
  return below(a ^ highest, b ^ highest);
}
/// Without signs.
template <class Word>
auto is_smaller(Extended<Word> a, Extended<Word> b) {
  return below_signed(a.exponent, b.exponent) |
         (equal(a.exponent, b.exponent) & below(a.significand, b.significand));
}
/// Below a power of two in size.
template <class Word>
auto is_below_power(Extended<Word> x, int power) {
  return below_signed(x.exponent, constant(x.sign, word_of(power + static_cast<int>(kDoubleBias))));
}
template <class Word>
auto is_zero(Extended<Word> x) {
  return is_zero(x.significand);
}
template <class Word>
Extended<Word> with_sign(Extended<Word> x, Word sign) {
  return {sign, x.exponent, x.significand};
}
template <class Word>
Extended<Word> magnitude(Extended<Word> x) {
  return with_sign(x, constant(x.sign, 0));
}
template <class Word>
Extended<Word> operator-(Extended<Word> x) {
  return with_sign(x, inverted(x.sign));
}
/// Times a power of two.
template <class Word>
Extended<Word> scaled(Extended<Word> x, int power) {
  return {x.sign, x.exponent + constant(x.sign, word_of(power)), x.significand};
}

template <class Word>
Wide<Word> product_high(Wide<Word> a, Wide<Word> b) {
  const Wide<Word> left = product(a.high, b.low) + widened(product(a.low, b.low).high);
  const Wide<Word> right = product(a.low, b.high) + widened(left.low);
  return product(a.high, b.high) + widened(left.high) + widened(right.high);
}

template <class Word>
Extended<Word> operator*(Extended<Word> a, Extended<Word> b) {
  const Wide<Word> significand = product_high(a.significand, b.significand);
  const Word is_high = shr(significand.high, 31);
  const Word shift = constant(is_high, 1) - is_high;
  return {a.sign ^ b.sign, a.exponent + b.exponent - constant(shift, kDoubleBias) + is_high,
          shl(significand, shift)};
}

template <class Word>
Extended<Word> operator+(Extended<Word> a, Extended<Word> b) {
  const auto swaps = is_smaller(a, b);
  const Extended<Word> x = select(swaps, b, a), y = select(swaps, a, b);
  // One bit of room for the carry.
  const Wide<Word> aligned = shr(shr(y.significand, 1U), x.exponent - y.exponent);
  const Wide<Word> sum = shr(x.significand, 1U) + with_sign(aligned, x.sign ^ y.sign);
  return normalised(x.sign, x.exponent + constant(x.sign, 1), sum);
}
template <class Word>
Extended<Word> operator-(Extended<Word> a, Extended<Word> b) {
  return a + (-b);
}
template <class Word>
Extended<Word> operator+(Extended<Word> a, long double b) {
  return a + extended_constant(a.sign, b);
}
template <class Word>
Extended<Word> operator*(Extended<Word> a, long double b) {
  return a * extended_constant(a.sign, b);
}

/// The divisor is not 0.
template <class Word>
Extended<Word> operator/(Extended<Word> a, Extended<Word> b) {
  Wide<Word> rest = shr(a.significand, 1U);
  const Word high = divide_digit(rest, b.significand);
  const Word low = divide_digit(rest, b.significand);
  return normalised(a.sign ^ b.sign, a.exponent - b.exponent + constant(high, kDoubleBias),
                    Wide<Word>{low, high});
}
template <class Word>
Extended<Word> reciprocal(Extended<Word> x) {
  return extended_constant(x.sign, 1) / x;
}

/// Of a number that is not negative: from the root of its leading bits by Newton's method.
template <class Word>
Extended<Word> square_root(Extended<Word> x) {
  const Word bias = constant(x.sign, kDoubleBias), one = constant(x.sign, 1);
  const Word exponent = x.exponent - bias;
  const Word odd = exponent & one;
  const Word half = shr(exponent, 1) | (exponent & constant(one, 0x80000000U));
  const Extended<Word> number{constant(one, 0), bias + odd, x.significand};
  const Extended<Word> root = extended(sqrt_double(packed(number)));
  const Extended<Word> better = scaled(root + number / root, -1);
  const Extended<Word> result{better.sign, better.exponent + half, better.significand};
  return select(is_zero(x), x, result);
}

/// Coefficients as words, the last one first.
struct CoefficientWords {
  std::vector<std::uint32_t> sign, exponent, low, high;

  explicit CoefficientWords(std::span<const long double> coefficients) {
    for (std::size_t i = coefficients.size(); i-- > 0;) {
      const ExtendedParts parts(coefficients[i]);
      sign.push_back(parts.sign);
      exponent.push_back(parts.exponent);
      low.push_back(static_cast<std::uint32_t>(parts.significand));
      high.push_back(static_cast<std::uint32_t>(parts.significand >> 32));
    }
  }
  template <class Turn, class Word>
  [[nodiscard]] Extended<Word> of(Turn turn, Word like) const {
    return {
        turn.of(sign, like), turn.of(exponent, like), {turn.of(low, like), turn.of(high, like)}};
  }
};

/// first[0] + first[1] x + … where the condition holds, else so with `second`; the shorter one ends
/// with zeros.
template <class Word, class Boolean>
Extended<Word> polynomial(Extended<Word> x, Boolean condition, std::span<const long double> first,
                          std::span<const long double> second) {
  const CoefficientWords a(first), b(second);
  const Extended<Word> zero = extended_constant(x.sign, 0);
  const std::vector<Word> start = {
      zero.sign,  zero.exponent,     zero.significand.low, zero.significand.high, x.sign,
      x.exponent, x.significand.low, x.significand.high,   one_where(condition)};
  const auto last = loop(first.size(), start, [&](const std::vector<Word>& v, auto turn) {
    const Extended<Word> sum{v[0], v[1], {v[2], v[3]}}, factor{v[4], v[5], {v[6], v[7]}};
    Extended<Word> coefficient = a.of(turn, v[8]);
    if (first.data() != second.data()) {
      coefficient = select(any(v[8]), coefficient, b.of(turn, v[8]));
    }
    const Extended<Word> next = sum * factor + coefficient;
    return std::vector<Word>{
        next.sign, next.exponent, next.significand.low, next.significand.high, v[4], v[5], v[6],
        v[7],      v[8]};
  });
  return {last[0], last[1], {last[2], last[3]}};
}
template <class Word>
Extended<Word> polynomial(Extended<Word> x, std::span<const long double> coefficients) {
  return polynomial(x, equal(x.sign, x.sign), coefficients, coefficients);
}

}  // namespace superstep::split
