// The Hurwitz zeta function, and the derivatives of digamma, which are multiples of it.

#include <array>
#include <cmath>
#include <limits>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/series.h"
#include "compiler/ops/special_singles.h"

namespace superstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// B_2j / (2j)!
constexpr std::array kBernoulli = {
    0.0833333333333333333,    -0.00138888888888888889,  0.0000330687830687830688,
    -8.2671957671957672e-7,   2.0876756987868099e-8,    -5.28419013868749318e-10,
    1.33825365306846788e-11,  -3.38968029632258287e-13, 8.58606205627784456e-15,
    -2.17486869855806187e-16, 5.50900282836022952e-18,  -1.39544646858125233e-19};

bool is_whole(long double x) { return x == std::floor(x); }

/// By the Euler-Maclaurin formula for positive q.
long double zeta_sum(long double s, long double q) {
  long double sum = 0;
  for (int k = 0; k < 40; ++k) sum += std::pow(q + k, -s);
  q += 40;
  const long double last = std::pow(q, -s);
  if (last == 0) return sum;
  sum += last * q / (s - 1) + last / 2;
  long double factor = last * s / q;
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    sum += factor * kBernoulli.at(j);
    const auto two = static_cast<long double>(2 * j);
    factor *= (s + two + 1) * (s + two + 2) / (q * q);
  }
  return sum;
}

double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q) || s < 1) return kNaN;
  if (s == 1) return kInfinity;
  if (q > 0) return static_cast<double>(zeta_sum(s, q));
  if (is_whole(q)) return is_whole(s / 2.0) ? kInfinity : kNaN;
  if (!is_whole(s)) return kNaN;
  // The terms with negative bases are a part of the sum from their smallest size on.
  const long double size = -static_cast<long double>(q), rest = size - std::floor(size);
  const long double forward = zeta_sum(s, 1 - rest), beyond = zeta_sum(s, size + 1);
  const long double back = zeta_sum(s, rest) - beyond;
  if (is_whole(s / 2.0)) return static_cast<double>(forward + back);
  // Half way between integers what is common cancels; where both are infinite the base that is
  // nearer to 0 tells.
  if (rest == 0.5) return static_cast<double>(beyond);
  if (std::isinf(forward) && std::isinf(back)) return rest < 0.5 ? -kInfinity : kInfinity;
  return static_cast<double>(forward - back);
}
std::int64_t no_integers(DType, std::int64_t, std::int64_t) { return 0; }

double polygamma(double n, double x) {
  if (std::isnan(n) || n < 0 || !is_whole(n)) return kNaN;
  if (n == 0) {
    HostTensor argument(TensorType{DType::kF64, {}});
    argument.set(0, x);
    return kDigammaOp.evaluate({}, std::span(&argument, 1))[0].get<double>(0);
  }
  const double sign = is_whole(n / 2.0) ? -1 : 1;
  return sign * std::tgamma(n + 1) * zeta(n + 1, x);
}

Tensor function(const OpDefinition& op, Tensor x) { return x.builder->apply(op, {x}); }
Tensor power(Tensor x, Tensor y) { return x.builder->apply(kPowerOp, {x, y}); }
Tensor is_integer(Tensor x) { return compare("EQ", x, function(kFloorOp, x)); }
Tensor is_even(Tensor x) { return is_integer(x * 0.5); }

/// The sum of (q + k)^-s over k from 0 on, for positive q and s above 1.
Tensor zeta_series(Tensor s, Tensor q) {
  constexpr std::int64_t kTerms = 9;
  const std::vector<Tensor> first = {q.like(0), q, s};
  const std::vector<Tensor> values = repeat(kTerms, first, [](std::span<const Tensor> v) {
    return std::vector<Tensor>{v[0] + power(v[1], -v[2]), v[1] + 1.0, v[2]};
  });
  const Tensor sum = values[0], a = values[1];
  // The rest: an integral, half of a term, and what the derivatives at a add.
  const Tensor below = s - 1.0;
  const Tensor integral = power(a, -below);
  const Tensor term = integral / a;
  const Tensor inverse = a.like(1) / a;
  const std::size_t count = s.dtype() == DType::kF64 ? kBernoulli.size() : 7;
  Tensor factor = s.like(0);
  for (std::size_t j = count; j-- > 0;) {
    const auto two = static_cast<double>(2 * j);
    const Tensor next = ((s + (two + 1)) * inverse) * ((s + (two + 2)) * inverse);
    factor = next * factor + kBernoulli.at(j);
  }
  const Tensor rest = integral / below + term * (factor * (s * inverse) + 0.5);
  return sum + select(integral == 0.0, integral, rest);
}

Tensor zeta_formula(Tensor s, Tensor q) {
  const Tensor is_negative = q < 0.0, size = abs(q);
  const Tensor rest = size - function(kFloorOp, size);
  // Terms with negative bases are those from their smallest size to -q: three sums side by side.
  const Tensor one = q.like(1);
  const Tensor sums =
      zeta_series(stacked({s, s, s}),
                  stacked({select(is_negative, one - rest, q), select(is_negative, rest, one),
                           select(is_negative, size, one) + 1.0}));
  const Tensor forward = part_of_stack(sums, 0);
  const Tensor beyond = part_of_stack(sums, 2), back = part_of_stack(sums, 1) - beyond;
  const Tensor none = q.like(kNaN), infinity = q.like(kInfinity);
  // As in the reference above.
  const Tensor are_infinite = (forward == kInfinity) & (back == kInfinity);
  const Tensor nearer = select(rest < 0.5, -back, forward);
  const Tensor odd = select(rest == 0.5, beyond, select(are_infinite, nearer, forward - back));
  const Tensor both = select(is_even(s), forward + back, odd);
  const Tensor of_negative = select(is_integer(s), both, none);
  const Tensor of_pole = select(is_even(s), infinity, none);
  const Tensor is_pole = is_integer(q) & compare("LE", q, q.like(0));
  const Tensor sum = select(is_pole, of_pole, select(is_negative, of_negative, forward));
  const Tensor has_sum = compare("GE", s, one) & compare("EQ", q, q);
  return select(has_sum, select(s == 1.0, infinity, sum), none);
}

/// n! for whole n.
Tensor factorial(Tensor n) {
  const auto times = [](Tensor product, Tensor n, Tensor k) {
    return product * select(compare("GE", n, k), k, n.like(1));
  };
  if (n.dtype() == DType::kF64) {
    constexpr int kFirstInfinite = 171;
    const std::vector<Tensor> first = {n.like(1), n.like(2), n};
    return repeat(kFirstInfinite - 1, first, [&](std::span<const Tensor> v) {
      return std::vector<Tensor>{times(v[0], v[2], v[1]), v[1] + 1.0, v[2]};
    })[0];
  }
  constexpr int kFirstInfinite = 35;
  Tensor product = n.like(1);
  for (int k = 2; k <= kFirstInfinite; ++k) product = times(product, n, n.like(k));
  return product;
}

Tensor polygamma_formula(Tensor n, Tensor x) {
  const Tensor derivative = factorial(n) * zeta_formula(n + 1.0, x);
  const Tensor signed_derivative = select(is_even(n), -derivative, derivative);
  const Tensor is_order = is_integer(n) & compare("GE", n, n.like(0));
  const Tensor whole = select(n == 0.0, function(kDigammaOp, x), signed_derivative);
  return select(is_order, whole, n.like(kNaN));
}

}  // namespace

const OpDefinition kZetaOp{
    .name = "chlo.zeta",
    .summary = "The sum of (second + k)^-first over all k from 0 on.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<zeta, no_integers>,
    .lowerings = {ExpandLowering{expand_special<zeta_of_single, zeta_formula>}},
    .traits = {.operands = {kFloats, kFloats}},
};
const OpDefinition kPolygammaOp{
    .name = "chlo.polygamma",
    .summary = "The derivative of digamma at the second element, as often as the first one says.",
    .infer = infer_same_type,
    .evaluate = evaluate_binary<polygamma, no_integers>,
    .lowerings = {ExpandLowering{expand_special<polygamma_of_single, polygamma_formula>}},
    .traits = {.operands = {kFloats, kFloats}},
};

}  // namespace superstep
