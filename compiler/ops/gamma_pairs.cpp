// lgamma and digamma of f32, in pairs: their parts cancel near zeros.

#include <limits>
#include <numbers>

#include "compiler/ops/gamma_series.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/pair.h"
#include "compiler/ops/special_singles.h"

namespace superstep {
namespace {

Tensor infinity_like(Tensor x) { return x.like(std::numeric_limits<double>::infinity()); }
Tensor none_like(Tensor x) { return x.like(std::numeric_limits<double>::quiet_NaN()); }

/// How far it is from the nearest integer.
Tensor fraction(Tensor x) { return x - x.builder->apply(kRoundNearestEvenOp, {x}); }

Pair half_of(Pair x) { return {x.high * 0.5, x.low * 0.5}; }
/// Of a pair: that of its first number, and how far the other one is from it.
Pair logarithm_of(Pair x) { return logarithm(x.high) + x.low / x.high; }

/// cot(pi x) for |x| <= 1/2, exact near its zeros too.
Pair cotangent_of_half_turns(Tensor x) {
  const Tensor size = abs(x), is_steep = size < 0.25;
  const Tensor angle = select(is_steep, size, size.like(0.5) - size);
  const Pair sine = sine_of_half_turns(angle), cosine = cosine_of_half_turns(angle);
  const Pair ratio = select(is_steep, cosine, sine) / select(is_steep, sine, cosine);
  return select(x < 0.0, -ratio, ratio);
}

/// Stirling's formula as (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2, which does not cancel, from
/// 3 on.
Tensor far_log_gamma(Tensor x, Pair excess) { return x * excess.high + x * excess.low; }
Pair upper_log_gamma(Tensor x, Pair excess) {
  const Pair inverse = pair_like(x, 1) / Pair{x, x.like(0)};
  const Pair rest = inverse * polynomial(inverse * inverse, kStirlingDouble, 4);
  return exact_sum(x, x.like(-0.5)) * excess + (rest + pair_like(x, 0.418938533204672741780));
}

/// From 0 to 3 as (x - 1) (x - 2) times a polynomial; below 3/4 that of x + 1.
Pair lower_log_gamma(Tensor x, Tensor is_small) {
  const Tensor is_low = (select(is_small, x + 1.0, x)) < 1.5;
  const Tensor centre = select(is_low, x.like(-kLowCentre), x.like(-kHighCentre));
  const Pair place = exact_sum(x, select(is_small, centre + 1.0, centre));
  const Pair zeros = exact_sum(x, select(is_small, x.like(0), x.like(-1))) *
                     exact_sum(x, select(is_small, x.like(-1), x.like(-2)));
  return zeros * polynomial(place, is_low, kLogGammaLowDouble, kLogGammaHighDouble, 13);
}

/// log(x) - 1 / (2 x) - …, from 2 on.
Pair upper_digamma(Pair x, Pair inverse) {
  const Pair square = inverse * inverse;
  return logarithm_of(x) - half_of(inverse) - square * polynomial(square, kDigammaFarDouble, 7);
}
/// From 0 to 2 as the distance to the root times a polynomial; below 1 by that of x + 1.
Pair lower_digamma(Pair x, Pair inverse) {
  const Tensor is_small = x.high < 1.0;
  const Tensor like = x.high;
  const Tensor whole = select(is_small, like.like(1), like.like(0));
  const Pair place = x + (whole - 1.5);
  const Pair distance = x + Pair{whole - kRoot.high, like.like(-kRoot.low)};
  const Pair curve = distance * polynomial(place, kDigammaDouble, 12);
  return select(is_small, curve - inverse, curve);
}

}  // namespace

Tensor log_gamma_of_single(Tensor x) {
  constexpr double kFar = 1e30;  // from where Stirling's rest is nothing, and pairs would overflow
  const Tensor size = abs(x), infinity = infinity_like(x);
  const Tensor is_small = size < 0.75;
  const Pair log = logarithm(size), excess = log + size.like(-1);
  const Pair positive =
      select(size < 3.0, lower_log_gamma(size, is_small), upper_log_gamma(size, excess));
  const Pair above = select(is_small, positive - log, positive);
  // gamma(x) gamma(-x) = -pi / (x sin(pi x)), so that x need not be divided by twice below 3/4.
  const Tensor distance = abs(fraction(size));
  const Pair sine = logarithm_of(sine_of_half_turns(distance));
  const Pair divisor = select(is_small, sine, sine + log);
  const Pair below = pair_like(x, 1.14472988584940017414) - divisor - positive;
  // The sum with 0 is never -0.
  const Tensor near = select(x < -kNoReflection, rounded(below), rounded(above)) + 0.0;
  const Tensor far = far_log_gamma(size, excess);
  const Tensor result = select(size > kFar, far, near);
  const Tensor is_pole =
      (compare("LE", x, x.like(0)) & (distance == 0.0)) | compare("EQ", size, infinity);
  return select(compare("EQ", x, x), select(is_pole, infinity, result), none_like(x));
}

Tensor digamma_of_single(Tensor x) {
  constexpr double kNear = 1e-15;  // below which the pole is all
  const Tensor is_negative = compare("LE", x, x.like(0));
  const Pair reflected = exact_sum(x.like(1), -x);
  const Pair a = select(is_negative, reflected, Pair{x, x.like(0)});
  // Where the inverse is nothing beside the logarithm, any one will do.
  const Tensor bounded = minimum(a.high, x.like(1e15));
  const Pair inverse = pair_like(x, 1) / Pair{bounded, a.low};
  const Pair positive = select(a.high < 2.0, lower_digamma(a, inverse), upper_digamma(a, inverse));
  // digamma(1 - x) - digamma(x) = pi cot(pi x); no number at the poles.
  const Tensor distance = fraction(x);
  const Pair cotangent = cotangent_of_half_turns(distance);
  const Pair negative = positive - cotangent * pair_like(x, std::numbers::pi);
  const Tensor number = select(is_negative, rounded(negative), rounded(positive));
  const Tensor result = select(abs(x) < kNear, x.like(-1) / x, number);
  const Tensor is_pole = is_negative & (distance == 0.0);
  const Tensor infinity = infinity_like(x);
  return select(is_pole, none_like(x), select(compare("EQ", x, infinity), infinity, result));
}

}  // namespace superstep
