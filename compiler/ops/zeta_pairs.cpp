// zeta and polygamma of f32, summed in pairs.

#include <array>
#include <cmath>
#include <limits>

#include "compiler/ops/ops.h"
#include "compiler/ops/pair.h"
#include "compiler/ops/special_singles.h"

namespace superstep {
namespace {

/// B_2j / (2j)!
constexpr std::array kBernoulli = {1.0 / 12,           -1.0 / 720,     1.0 / 30240,
                                   -1.0 / 1209600,     1.0 / 47900160, -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0};

Tensor infinity_like(Tensor x) { return x.like(std::numeric_limits<double>::infinity()); }
Tensor none_like(Tensor x) { return x.like(std::numeric_limits<double>::quiet_NaN()); }
Tensor function(const OpDefinition& op, Tensor x) { return x.builder->apply(op, {x}); }
Tensor is_integer(Tensor x) { return compare("EQ", x, function(kFloorOp, x)); }
Tensor is_even(Tensor x) { return is_integer(x * 0.5); }
Pair one_of(Tensor x) { return {x, x.like(0)}; }
Tensor is_finite(Tensor x) { return function(kIsFiniteOp, x); }

/// x^-s of a pair.
using InversePower = Pair (*)(Pair x, Tensor s);

/// Rounded to f32; the second number of x tells in proportion to s.
Pair inverse_power(Pair x, Tensor s) {
  const Tensor power = x.high.builder->apply(kPowerOp, {x.high, -s});
  const Tensor rest = -(power * (s * (x.low / x.high)));
  return {power, select(x.low == 0.0, power.like(0), rest)};
}
/// Of x from 1 on and whole s below 64, to the bits of a pair: by squares.
Pair inverse_whole_power(Pair x, Tensor s) {
  constexpr int kBits = 6;
  const Tensor bits = convert(s, DType::kI32);
  const Pair one = pair_like(s, 1);
  Pair square = one / x, power = one;
  for (int bit = 0; bit < kBits; ++bit) {
    if (bit > 0) square = square * square;
    const Tensor is_set = compare("NE", bits & bits.like(1 << bit), bits.like(0));
    power = select(is_set, bit > 0 ? power * square : square, power);
  }
  return power;
}

/// A sum, and what it would be in f32: whether it overflows, which a pair does not tell.
struct Sum {
  Pair exact;
  Tensor plain;
};
Sum part_of_sums(Sum sums, std::int64_t i) {
  return {{part_of_stack(sums.exact.high, i), part_of_stack(sums.exact.low, i)},
          part_of_stack(sums.plain, i)};
}

/// The sum of ((q + k) / unit)^-s over k from 0 on, for positive q, s above 1, and a power of 2.
Sum series(Tensor s, Pair q, Tensor unit, InversePower power_of) {
  constexpr std::int64_t kTerms = 9;
  const Tensor zero = s.like(0), step = s.like(1) / unit;
  const std::vector<Tensor> first = {zero, zero, zero, q.high * step, q.low * step, s, step};
  const std::vector<Tensor> v = repeat(kTerms, first, [&](std::span<const Tensor> before) {
    const Pair sum{before[0], before[1]}, base{before[3], before[4]};
    const Pair term = power_of(base, before[5]);
    const Pair next = sum + term, above = base + before[6];
    return std::vector<Tensor>{next.high, next.low, before[2] + term.high, above.high, above.low,
                               before[5], before[6]};
  });
  const Pair sum{v[0], v[1]}, a{v[3], v[4]};
  // The rest: an integral, half of a term, and what the derivatives at a add.
  const Tensor below = s - 1.0;
  const Pair power = power_of(a, below);
  const Tensor inverse = step / a.high;
  Tensor factor = zero;
  for (std::size_t j = kBernoulli.size(); j-- > 1;) {
    const auto two = static_cast<double>(2 * j - 2);
    factor =
        ((s + (two + 1)) * inverse) * ((s + (two + 2)) * inverse) * (factor + kBernoulli.at(j));
  }
  // Where a is this large, the integral is all there is; products of pairs would overflow.
  const Tensor is_far = a.high > 0x1p64;
  const Pair one = pair_like(s, 1), near = select(is_far, one, a);
  const Pair slope = (Pair{step, zero} / near * s) * (pair_like(s, kBernoulli[0]) + factor);
  const Pair others = select(is_far, pair_like(s, 0), power / near * (slope + s.like(0.5)));
  const Tensor is_nothing = power.high == 0.0;
  const Pair integral{power.high * unit, power.low * unit};
  const Pair rest = integral / one_of(below) + others;
  return {select(is_nothing, sum, sum + rest),
          v[2] + select(is_nothing, zero, integral.high / below)};
}

/// How far it is from the nearest integer.
Tensor fraction(Tensor x) { return x - function(kRoundNearestEvenOp, x); }

/// By terms with positive bases. Those of a negative q are its distances from the integers on both
/// sides but the ones beyond it, where those below the integers have the sign of an even or odd
/// power. In units as `series`.
Sum zeta_sum(Tensor s, Tensor q, Tensor unit, InversePower power_of) {
  const Tensor is_negative = q < 0.0, distance = fraction(q), near = abs(distance);
  const Pair first = one_of(select(is_negative, near, q));
  const Pair second = select(is_negative, exact_sum(q.like(1), -near), first);
  const Pair beyond = select(is_negative, exact_sum(q.like(1), -q), first);
  const Sum sums = series(stacked({s, s, s}),
                          {stacked({first.high, second.high, beyond.high}),
                           stacked({first.low, second.low, beyond.low})},
                          stacked({unit, unit, unit}), power_of);
  const Sum from = part_of_sums(sums, 0), across = part_of_sums(sums, 1),
            to = part_of_sums(sums, 2);
  const Tensor even = is_even(s), is_below = distance < 0.0;
  // Half way between integers both are the same; elsewhere the second is less, also where both are
  // infinite.
  const Tensor is_half = near == 0.5, zero = q.like(0);
  const Pair sum = from.exact + across.exact;
  const Pair difference = select(is_half, one_of(zero), from.exact - across.exact);
  const Pair odd = select(is_below, -difference, difference);
  const Tensor plain =
      select(is_half, zero, select(is_finite(across.plain), from.plain - across.plain, from.plain));
  const Tensor plain_odd = select(is_below, -plain, plain);
  return {
      select(is_negative, select(even, sum - to.exact, odd + to.exact), from.exact),
      select(is_negative, select(even, from.plain + across.plain - to.plain, plain_odd + to.plain),
             from.plain)};
}

/// `number`, a value of the sum times something, where the function has one.
Tensor where_defined(Tensor s, Tensor q, Tensor number) {
  const Tensor infinity = infinity_like(q), none = none_like(q);
  const Tensor of_pole = select(is_even(s), infinity, none);
  const Tensor is_pole = is_integer(q) & compare("LE", q, q.like(0));
  const Tensor of_negative = select(is_integer(s), number, none);
  const Tensor sum = select(is_pole, of_pole, select(q < 0.0, of_negative, number));
  const Tensor has_sum = compare("GE", s, s.like(1)) & compare("EQ", q, q);
  return select(has_sum, select(s == 1.0, infinity, sum), none);
}

/// As a power of 2, so that a factorial times a sum is in the range of pairs.
constexpr double kFactorialScale = 64;
/// n! as a pair over that for whole n up to 34; of others infinite.
Pair small_factorial(Tensor n) {
  constexpr int kMost = 34;
  Pair result = one_of(infinity_like(n));
  double factorial = std::exp2(-kFactorialScale);
  for (int k = 0; k <= kMost; ++k) {
    if (k > 1) factorial *= k;
    result = select(n == k, pair_like(n, factorial), result);
  }
  return result;
}

/// 2^n of an i32 from -126 to 127.
Tensor power_of_two(Tensor n, DType dtype) {
  return bitcast((n + 127.0) << 23, {dtype, n.shape()});
}
/// A power of two near a positive number, which keeps powers of sums in units of it in the range; 1
/// of others.
struct Binary {
  Tensor power, exponent;
};
Binary binary_size(Tensor x) {
  constexpr double kMost = 64;
  const Tensor bits = bitcast(x, {DType::kI32, x.shape()});
  const Tensor exponent = x.builder->apply(kShiftRightArithmeticOp, {bits, bits.like(23)}) - 127.0;
  const Tensor bounded = minimum(maximum(exponent, bits.like(-kMost)), bits.like(kMost));
  const Tensor used = select(x > 0.0, bounded, bits.like(0));
  return {power_of_two(used, x.dtype()), convert(used, x.dtype())};
}
/// Times 2^n, in steps that are numbers; beyond 2^360 of either sign nothing is left.
Tensor times_power_of_two(Tensor x, Tensor n) {
  constexpr double kStep = 120;
  for (int step = 0; step < 3; ++step) {
    const Tensor part = minimum(maximum(n, n.like(-kStep)), n.like(kStep));
    x = x * power_of_two(convert(part, DType::kI32), x.dtype());
    n = n - part;
  }
  return x;
}

}  // namespace

Tensor zeta_of_single(Tensor s, Tensor q) {
  const Sum sum = zeta_sum(s, q, s.like(1), inverse_power);
  const Tensor number = select(is_finite(sum.plain), rounded(sum.exact), sum.plain);
  const Tensor infinity = infinity_like(q);
  const Tensor is_nothing = compare("EQ", q, infinity) | (compare("EQ", s, infinity) & (q > 1.0));
  return where_defined(s, q, select(is_nothing, q.like(0), number));
}

Tensor polygamma_of_single(Tensor n, Tensor x) {
  // Nearer to a pole than this all are infinite, and powers of the distance would overflow.
  constexpr double kLeast = 0x1p-64;
  const Tensor s = n + 1.0, least = x.like(kLeast);
  const Tensor used = select(abs(x) < kLeast, select(x < 0.0, -least, least), x);
  const Binary binary = binary_size(select(x < 0.0, abs(fraction(used)), used));
  const Sum sum = zeta_sum(s, used, binary.power, inverse_whole_power);
  const Pair factorial = small_factorial(n);
  const Tensor exact = rounded(factorial * sum.exact);
  const Tensor scaled = select(is_finite(exact), exact, factorial.high * sum.plain);
  const Tensor of_number =
      times_power_of_two(scaled, s.like(kFactorialScale) - binary.exponent * s);
  const Tensor is_nothing = compare("EQ", x, infinity_like(x)) & is_finite(s);
  const Tensor number = select(is_nothing, x.like(0), of_number);
  const Tensor derivative = where_defined(s, x, number);
  const Tensor with_sign = select(is_even(n), -derivative, derivative);
  const Tensor is_order = is_integer(n) & compare("GE", n, n.like(0));
  const Tensor whole = select(n == 0.0, digamma_of_single(x), with_sign);
  return select(is_order, whole, none_like(n));
}

}  // namespace superstep
