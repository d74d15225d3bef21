#include "compiler/ops/pair.h"

#include <array>

#include "base/error.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

/// pi^(2 k + 1) / (2 k + 1)! and pi^(2 k) / (2 k)!, with alternating signs.
constexpr std::array kSine = {3.1415926535897932385,     -5.1677127800499700292,
                              2.5501640398773454439,     -0.59926452932079207689,
                              0.082145886611128228799,   -0.0073704309457143507773,
                              0.00046630280576761256442, -0.000021915353447830215827,
                              7.9520540014755127848e-7,  -2.294842899726987311e-8};
constexpr std::array kCosine = {1.0,
                                -4.9348022005446793094,
                                4.0587121264167682182,
                                -1.3352627688545894959,
                                0.23533063035889320454,
                                -0.025806891390014060013,
                                0.0019295743094039230479,
                                -0.00010463810492484570712,
                                4.3030695870329470073e-6,
                                -1.3878952462213772114e-7};
/// atanh(x) / x over x^2.
constexpr std::array kArcTangent = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7, 1.0 / 9,
                                    1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17};
/// The logarithm of 2: 16 bits, so that whole multiples are exact, and the rest.
constexpr double kLogOfTwo = 0.693145751953125, kLogOfTwoRest = 1.4286068203094172321e-6;

/// Half of the bits, so that products of two such are exact, and the others (Veltkamp).
Pair halves(Tensor x) {
  const Tensor scaled = x * 4097.0;
  const Tensor high = scaled - (scaled - x);
  return {high, x - high};
}
Tensor product_rest(Pair a, Pair b, Tensor product) {
  return ((a.high * b.high - product) + a.high * b.low + a.low * b.high) + a.low * b.low;
}
/// Where the first one is not smaller, or nothing is lost anyway.
Pair ordered_sum(Tensor a, Tensor b) {
  const Tensor sum = a + b;
  return {sum, b - (sum - a)};
}

/// Horner's rule with the halves of the factor at hand.
template <class Coefficient>
Pair by_horner(Pair x, std::size_t count, std::size_t exact, Coefficient coefficient) {
  SUPERSTEP_CHECK(exact > 0 && exact < count, "some terms of a polynomial are pairs");
  Tensor rest = coefficient(count - 1).high;
  for (std::size_t i = count - 1; i-- > exact;) rest = rest * x.high + coefficient(i).high;
  Pair sum{rest, rest.like(0)};
  const Pair factor = halves(x.high);
  for (std::size_t i = exact; i-- > 0;) {
    const Tensor product = sum.high * x.high;
    const Tensor low =
        product_rest(halves(sum.high), factor, product) + sum.high * x.low + sum.low * x.high;
    const Pair next = coefficient(i);
    const Pair high = exact_sum(next.high, product);
    sum = ordered_sum(high.high, high.low + (low + next.low));
  }
  return sum;
}

}  // namespace

Pair pair_like(Tensor like, double number) {
  const auto high = static_cast<float>(number);
  return {like.like(high), like.like(number - static_cast<double>(high))};
}

Pair exact_sum(Tensor a, Tensor b) {
  const Tensor sum = a + b, other = sum - a;
  return {sum, (a - (sum - other)) + (b - other)};
}
Pair exact_product(Tensor a, Tensor b) {
  const Tensor product = a * b;
  return {product, product_rest(halves(a), halves(b), product)};
}

Pair select(Tensor condition, Pair a, Pair b) {
  return {select(condition, a.high, b.high), select(condition, a.low, b.low)};
}

Pair operator-(Pair a) { return {-a.high, -a.low}; }
Pair operator+(Pair a, Pair b) {
  const Pair high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Pair sum = ordered_sum(high.high, high.low + low.high);
  return ordered_sum(sum.high, sum.low + low.low);
}
Pair operator+(Pair a, Tensor b) {
  const Pair high = exact_sum(a.high, b);
  return ordered_sum(high.high, high.low + a.low);
}
Pair operator-(Pair a, Pair b) { return a + (-b); }
Pair operator*(Pair a, Pair b) {
  const Pair high = exact_product(a.high, b.high);
  return ordered_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}
Pair operator*(Pair a, Tensor b) {
  const Pair high = exact_product(a.high, b);
  return ordered_sum(high.high, high.low + a.low * b);
}
Pair operator/(Pair a, Pair b) {
  const Tensor quotient = a.high / b.high;
  const Pair rest = a - b * quotient;
  return ordered_sum(quotient, rest.high / b.high);
}

Pair polynomial(Pair x, std::span<const double> coefficients, std::size_t exact) {
  return by_horner(x, coefficients.size(), exact,
                   [&](std::size_t i) { return pair_like(x.high, coefficients[i]); });
}
Pair polynomial(Pair x, Tensor condition, std::span<const double> first,
                std::span<const double> second, std::size_t exact) {
  SUPERSTEP_CHECK(first.size() == second.size(), "polynomials by condition have one degree");
  return by_horner(x, first.size(), exact, [&](std::size_t i) {
    return select(condition, pair_like(x.high, first[i]), pair_like(x.high, second[i]));
  });
}

Pair logarithm(Tensor x) {
  constexpr std::uint32_t kLowestMantissa = 0x3f3504f3;  // sqrt(1/2)
  const Tensor is_tiny = x < 1.1754943508222875e-38;
  const Tensor normal = select(is_tiny, x * 16777216.0, x);
  const TensorType integers{DType::kI32, x.shape()};
  const Tensor bits = bitcast(normal, integers);
  GraphBuilder& builder = *x.builder;
  const Tensor exponent =
      builder.apply(kShiftRightArithmeticOp, {bits - kLowestMantissa, bits.like(23)});
  const Tensor mantissa = bitcast(bits - (exponent << 23), x.type());
  const Pair place = exact_sum(mantissa, mantissa.like(-1)) / exact_sum(mantissa, mantissa.like(1));
  const Pair curve = polynomial(place * place, kArcTangent, 4);
  const Pair log = place * curve;
  const Tensor k = convert(exponent, x.dtype()) + select(is_tiny, x.like(-24), x.like(0));
  const Pair twice{log.high + log.high, log.low + log.low};
  return twice + (pair_like(k, kLogOfTwoRest) * k + k * kLogOfTwo);
}

Pair sine_of_half_turns(Tensor x) { return polynomial(exact_product(x, x), kSine, 6) * x; }
Pair cosine_of_half_turns(Tensor x) { return polynomial(exact_product(x, x), kCosine, 6); }

}  // namespace superstep
