#pragma once

#include "compiler/passes/split/exponentials.h"

// The error function of f64, its complement and its inverse.

namespace superstep::split {

/// 2 / sqrt(pi) (-1)^n / (n! (2 n + 1)): erf(x) / x over x^2, for |x| <= 1/2.
inline constexpr std::array kErrorSeries = series<16>([](std::size_t n) {
  long double term = 1.128379167095512573896159L / static_cast<long double>(2 * n + 1);
  for (std::size_t i = 1; i <= n; ++i) term /= -static_cast<long double>(i);
  return term;
});
// Fitted at Chebyshev nodes.
/// e^(x^2) (1 + 2 x) erfc(x) over (x - 2) / (x + 2), for x from 1/2 to 28: off by less than 2^-65.
inline constexpr std::array kComplement =
    std::to_array<long double>({1.276978381552528719335L,        -0.09276382658574601773479L,
                                -0.1660303976152894152665L,      0.1640512800334442651088L,
                                -0.05422000099203138110715L,     -0.008034015082550913825216L,
                                0.008722653875411721279988L,     0.001271338969293052975891L,
                                -0.001456813939880798036449L,    -0.0004543408797785100401021L,
                                0.0002063671188984748290365L,    0.0001510396075613336539218L,
                                -0.000001509131345782312793005L, -0.00003642583407029433912706L,
                                -0.00001349632227312187475892L,  0.000003720701515378112560412L,
                                0.000005234309812171358061669L,  0.000001475057622109050771418L,
                                -7.145676326715326137736e-7L,    -7.739670108229155028709e-7L,
                                -2.4676724926025414058e-7L,      4.878353659934662047097e-8L,
                                1.715616290181852831483e-7L,     1.076263367318073673285e-7L,
                                -6.611785045260299834391e-8L,    -4.75454060561752839058e-8L,
                                2.324618078318984379845e-8L});
/// erf_inv(x) / x by w = -log(1 - x^2): over w - 3.125 to 6.25, off by less than 2^-55; over
/// sqrt(w) - 3.25 to 16 and sqrt(w) - 5 to where doubles end at 1, off by less than 2^-66.
inline constexpr std::array kInverseCentral = std::to_array<long double>(
    {1.653654562683102746162L,       0.2401581824255883242783L,    -0.006033670871427849883926L,
     -0.0007407025341544769870971L,  0.0001867342080246483771694L, -0.00001388252339440531670119L,
     -0.00000136546918506035750841L, 4.234788173782339258114e-7L,  -2.907038226292726638939e-8L,
     -4.11266082002324007594e-9L,    1.051218153980412668667e-9L,  -5.414287198084716060015e-11L,
     -1.297688552653207564481e-11L,  2.630483474056044148413e-12L, -8.118399443074353193561e-14L,
     -4.00123773509189585639e-14L,   6.5964077124208341111e-15L,   -4.028215432766174223798e-17L,
     -1.301692801679644487614e-16L,  1.55743202462332521709e-17L,  1.150022252066252972722e-18L,
     -3.499604435475417782187e-19L,  -1.11348376983270193626e-21L, 3.240704459379901911231e-21L});
inline constexpr std::array kInverseMiddle = std::to_array<long double>(
    {3.083885610492220676339L,      1.00525896769416528653L,        0.005370914553554989264572L,
     -0.003751208508212126569865L,  0.002491442097962086116695L,    -0.001688275535936191961771L,
     0.0009532893413892650710963L,  -0.0003550378051095000426251L,  0.00002403151616271825508574L,
     0.00006828703203637975735317L, -0.00004732071232452869373661L, 0.00001246553670214064491417L,
     0.00000293276185052395611868L, -0.00000398762478876510672027L, 0.000001480930645780271517341L,
     -2.296622688665039186331e-8L,  -2.439641180456948813171e-7L,   1.244585728966846127339e-7L,
     -2.307871462100391425677e-8L,  -8.77028216842381673488e-9L,    9.389633722498276873121e-9L,
     -3.138932368352231808789e-9L,  -5.788250588594942819169e-10L,  5.487335439137241193935e-10L});
inline constexpr std::array kInverseTail = std::to_array<long double>(
    {4.849906401408584339562L,       1.010300464864544857154L,     -0.0001387193183797318967678L,
     -0.0002150301197988059193822L,  0.0000759952780837063573099L, -0.00001968177120403308327191L,
     0.000004526052687351952947607L, -9.930254194344366240994e-7L, 2.290517963908541013971e-7L,
     -6.757311311266774585007e-8L,   2.902241955669924015834e-8L,  -1.521255874585762962732e-8L,
     7.812795178737451699571e-9L,    -3.536152262818252296905e-9L, 1.328562111782503554378e-9L,
     -3.785277876139345280658e-10L,  5.811632185285055219538e-11L, 1.330090959266039078892e-11L,
     -1.422378720993656375191e-11L,  6.248578355779536304171e-12L, -1.703456904280734238964e-12L,
     7.097812327995274262631e-14L,   1.614070368557549376416e-13L, -4.540553094658792925272e-14L});

/// Of numbers below 1/2 in size.
template <class Word>
Extended<Word> error_near_zero(Extended<Word> x) {
  return x * polynomial(x * x, kErrorSeries);
}
/// erfc(x) from 1/2 on. Beyond 28 it is less than any double.
template <class Word>
Extended<Word> error_tail(Extended<Word> x) {
  const Extended<Word> most = extended_constant(x.sign, 28);
  const Extended<Word> m = select(is_smaller(x, most), x, most);
  const Extended<Word> place = (m + -2.0L) / (m + 2.0L);
  return exponential(-(m * m)) * polynomial(place, kComplement) / (scaled(m, 1) + 1.0L);
}

template <class Word>
Wide<Word> erf_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), one = extended_constant(a.low, 1);
  const Extended<Word> far = with_sign(one - error_tail(magnitude(x)), x.sign);
  const Wide<Word> y = packed(select(is_below_power(x, -1), error_near_zero(x), far));
  return select(is_nan(a), double_nan(a.low), y);
}
template <class Word>
Wide<Word> erfc_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), one = extended_constant(a.low, 1);
  const Extended<Word> tail = error_tail(magnitude(x));
  const Extended<Word> far = select(any(x.sign), scaled(one, 1) - tail, tail);
  const Wide<Word> y = packed(select(is_below_power(x, -1), one - error_near_zero(x), far));
  return select(is_nan(a), double_nan(a.low), y);
}
template <class Word>
Wide<Word> erf_inv_double(Wide<Word> a) {
  const Extended<Word> x = extended(a), m = magnitude(x), one = extended_constant(a.low, 1);
  const Extended<Word> w = -logarithm((one - m) * (one + m));
  const Extended<Word> root = square_root(magnitude(w));
  const auto is_central = is_smaller(w, extended_constant(a.low, 6.25L));
  const auto is_middle = is_smaller(root, extended_constant(a.low, 4));
  const Extended<Word> centre =
      select(is_middle, extended_constant(a.low, 3.25L), extended_constant(a.low, 5));
  const Extended<Word> outer = polynomial(root - centre, is_middle, kInverseMiddle, kInverseTail);
  const Extended<Word> inner = polynomial(w + -3.125L, kInverseCentral);
  const Wide<Word> y = packed(x * select(is_central, inner, outer));
  const auto is_end = equal(m.exponent, one.exponent) & equal(m.significand, one.significand);
  const Wide<Word> result = select(is_end, infinity_of(x.sign), y);
  return select(is_nan(a) | is_smaller(one, m), double_nan(a.low), result);
}

}  // namespace superstep::split
