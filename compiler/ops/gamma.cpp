// The logarithm of the gamma function and its derivative.

#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/gamma_series.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/series.h"
#include "compiler/ops/special_singles.h"

namespace superstep {
namespace {

double log_gamma(double x) { return std::isinf(x) ? std::fabs(x) : std::lgamma(x); }

/// By recurrence to where the asymptotic series is exact; below zero by reflection.
double digamma(double argument) {
  long double x = argument, sum = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    const long double angle = 3.14159265358979323846264338327950288L * (x - std::round(x));
    sum = -3.14159265358979323846264338327950288L * std::cos(angle) / std::sin(angle);
    x = 1 - x;
  }
  for (; x < 30; x += 1) sum -= 1 / x;
  // B_2k / 2k
  constexpr long double kSeries[] = {1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
                                     1.0L / 132, -691.0L / 32760, 1.0L / 12};
  long double power = 1;
  sum += std::log(x) - 1 / (2 * x);
  for (const long double coefficient : kSeries) {
    power /= x * x;
    sum -= coefficient * power;
  }
  return static_cast<double>(sum);
}

Tensor function(const OpDefinition& op, Tensor x) { return x.builder->apply(op, {x}); }
Tensor difference(Tensor x, TwoParts number) { return (x - number.high) - number.low; }

/// How far it is from the nearest integer.
Tensor fraction(Tensor x) { return x - function(kRoundNearestEvenOp, x); }

/// log(x) - 1, and the logarithm of another number.
struct Logarithms {
  Tensor excess, other;
};
Logarithms logarithms_of(Tensor x, Tensor other) {
  if (x.dtype() == DType::kF64) {
    // Both by one piece of code; the difference from 3 on is exact enough.
    const Tensor logs = function(kLogOp, stacked({x, other}));
    return {part_of_stack(logs, 0) - 1.0, part_of_stack(logs, 1)};
  }
  const Tensor ratio = difference(x, kE) / (kE.high + kE.low);
  return {function(kLogPlusOneOp, ratio), function(kLogOp, other)};
}

Tensor log_gamma_formula(Tensor x) {
  const Tensor size = abs(x);
  // Below 3/4 by gamma(x) = gamma(x + 1) / x, where x + 1 need not be rounded for its distances.
  const Tensor is_small = size < 0.75;
  const Tensor near = select(is_small, size + 1.0, size);
  const Tensor is_low = near < 1.5;
  const Tensor place = near - select(is_low, size.like(kLowCentre), size.like(kHighCentre));
  // The sum with 0 is never -0.
  const Tensor zeros =
      select(is_small, size, size - 1.0) * select(is_small, size - 1.0, size - 2.0) + 0.0;
  const Tensor curve = zeros * polynomial(place, is_low, {kLogGammaLowSingle, kLogGammaLowDouble},
                                          {kLogGammaHighSingle, kLogGammaHighDouble});
  // gamma(x) gamma(-x) = -pi / (x sin(pi x)), so that x need not be divided by twice below 3/4.
  const Tensor is_negative = x < -kNoReflection;
  const Tensor distance = fraction(size);
  const Tensor sine = abs(function(kSineOp, distance * std::numbers::pi));
  const Tensor divisor = sine * select(is_small, size.like(1), size);
  const Logarithms logs = logarithms_of(size, select(is_negative, divisor, size));
  // Stirling's formula as (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2, which does not cancel.
  const Tensor inverse = size.like(1) / size;
  const Tensor rest = inverse * polynomial(inverse * inverse, {kStirlingSingle, kStirlingDouble});
  const Tensor upper = (size - 0.5) * logs.excess + (rest + 0.418938533204672742);
  const Tensor positive = select(size < 3.0, curve, upper);
  const Tensor log = logs.other;
  const Tensor reflected = (size.like(1.14472988584940017) - log) - positive;
  const Tensor pole = size.like(std::numeric_limits<double>::infinity());
  const Tensor is_infinite = compare("EQ", size, pole);
  const Tensor negative = select((distance == 0.0) | is_infinite, pole, reflected);
  return select(is_negative, negative, select(is_small, positive - log, positive));
}

Tensor digamma_formula(Tensor x) {
  const Tensor is_negative = compare("LE", x, x.like(0));
  const Tensor a = select(is_negative, x.like(1) - x, x);
  const Tensor is_small = a < 1.0;
  const Tensor place = a - select(is_small, a.like(0.5), a.like(1.5));
  const Tensor distance = select(is_small, difference(a, kRootMinusOne), difference(a, kRoot));
  const Tensor inverse = a.like(1) / a;
  const Tensor curve = distance * polynomial(place, {kDigammaSingle, kDigammaDouble});
  const Tensor lower = select(is_small, curve - inverse, curve);
  const Tensor square = inverse * inverse;
  const Tensor series = square * polynomial(square, {kDigammaFarSingle, kDigammaFarDouble});
  const Tensor upper = (function(kLogOp, a) - inverse * 0.5) - series;
  const Tensor positive = select(a < 2.0, lower, upper);
  // digamma(1 - x) - digamma(x) = pi cot(pi x); no number at the poles.
  const Tensor angle = fraction(x) * std::numbers::pi;
  const Tensor cotangent = function(kCosineOp, angle) / function(kSineOp, angle);
  const Tensor none = x.like(std::numeric_limits<double>::quiet_NaN());
  const Tensor negative = select(angle == 0.0, none, positive - cotangent * std::numbers::pi);
  return select(is_negative, negative, positive);
}

}  // namespace

const OpDefinition kLgammaOp{
    .name = "chlo.lgamma",
    .summary = "The logarithm of the magnitude of the gamma function of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<log_gamma>,
    .lowerings = {ExpandLowering{expand_special<log_gamma_of_single, log_gamma_formula>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kDigammaOp{
    .name = "chlo.digamma",
    .summary = "The derivative of chlo.lgamma at each element; NaN at its poles.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<digamma>,
    .lowerings = {ExpandLowering{expand_special<digamma_of_single, digamma_formula>}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
