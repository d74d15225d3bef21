// The logarithm of the gamma function and its derivative.

#include <cmath>
#include <limits>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/series.h"

namespace superstep {
namespace {

constexpr double kPi = 3.14159265358979323846;

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

// Fitted at Chebyshev nodes; for f32 off by less than 2^-26, for f64 by less than 2^-56.
/// log(gamma(x)) / ((x - 1) (x - 2)) over x - kLowCentre from 0.75 to 1.5, then over x -
/// kHighCentre to 3.
constexpr double kLowCentre = 1.125, kHighCentre = 2.25;
constexpr double kLogGammaLowSingle[] = {
    0.5487833995,   -0.2111532357, 0.1196025658,   -0.07892629198, 0.05631836349,
    -0.04202457149, 0.03155907373, -0.02471804745, 0.02558261914,  -0.02067961439};
constexpr double kLogGammaLowDouble[] = {
    0.548783397723790473,    -0.211153234258175878,   0.119603208442560323,
    -0.0789268196646065281,  0.0562821687691145243,   -0.0419948560125863675,
    0.0322638871379191159,   -0.0252965472693169632,  0.0201328418604180662,
    -0.0162090481292057574,  0.0131706243595935424,   -0.010782953470194624,
    0.00888544265287330399,  -0.00736049972520636643, 0.00610952853928836584,
    -0.00510514093173373728, 0.00442003162777715826,  -0.00372044107590919281,
    0.00240521819940974081,  -0.00202941709043004593, 0.00391808196197626122,
    -0.00333649099694577482};
constexpr double kLogGammaHighSingle[] = {
    0.3995894893,    -0.08588084822,  0.02526821089,    -0.008463965525, 0.003043146939,
    -0.001141823717, 0.0004307849945, -0.0001696359528, 8.859520015e-5,  -3.601486153e-5};
constexpr double kLogGammaHighDouble[] = {
    0.399589487655669102,      -0.0858808475512609946,   0.0252683549592885968,
    -0.00846402499357528065,   0.0030411186579069323,    -0.0011409865900058921,
    0.000440656732030095703,   -0.000173709317656547023, 0.0000695227951622916376,
    -0.0000281492896390832161, 0.000011501953265681634,  -4.73454407656437526e-6,
    1.96103092981356629e-6,    -8.16288522594042104e-7,  3.40330358615936214e-7,
    -1.42808246538646271e-7,   6.21126821883092366e-8,   -2.62372569861290753e-8,
    8.47451332244387595e-9,    -3.58739062705948532e-9,  3.49581127061490235e-9,
    -1.49221442832173529e-9};
/// x times what Stirling's formula leaves, over 1 / x^2 from 3 on.
constexpr double kStirlingSingle[] = {0.08333333267, -0.002777586225, 0.0007847184127,
                                      -0.000454428318};
constexpr double kStirlingDouble[] = {
    0.0833333333333333333,    -0.00277777777777768903, 0.000793650793590295084,
    -0.000595238078762567045, 0.000841748459240951051, -0.00191731583750193892,
    0.00639776993299985897,   -0.0290277389079998607,  0.163420258520804041,
    -1.0032726942827992,      5.81489173114695747,     -27.9493210871130578,
    98.9351483705246405,      -222.70049397023032,     235.699965586082934};
/// digamma(x) / (x - its root) over x - 1.5 from 1 to 2.
constexpr double kDigammaSingle[] = {0.951055876,   -0.4236274975,  0.240542535,   -0.1483988614,
                                     0.09498468507, -0.06205598039, 0.04085002674, -0.02578688363,
                                     0.017114989,   -0.01637362026, 0.01090258867};
constexpr double kDigammaDouble[] = {
    0.95105587603183288,      -0.4236274212814606,      0.240542484240786983,
    -0.148404923053880915,    0.0949887244528903816,    -0.061922133275488312,
    0.0407608339408460828,    -0.0269757966597870551,   0.0179072483173132958,
    -0.0119082201059597162,   0.00792702179686815398,   -0.00527993725553270825,
    0.00351810656380247234,   -0.00234549473973808352,  0.00156336963136535051,
    -0.00103645848173128379,  0.000690925576128298636,  -0.000485950392200362562,
    0.000323959454013451983,  -0.000144806433680616131, 0.0000965364626141006168,
    -0.000178218854885592319, 0.00011881232908510335};
/// (log(x) - 1 / (2 x) - digamma(x)) x^2 over 1 / x^2 from 2 on.
constexpr double kDigammaFarSingle[] = {0.08333333227,   -0.00833302353, 0.003952934274,
                                        -0.003871175731, 0.004665774137, -0.003575915264};
constexpr double kDigammaFarDouble[] = {
    0.0833333333333333327,   -0.00833333333333095716, 0.00396825396683351002,
    -0.00416666632401257748, 0.00757571303004713716,  -0.0210891768333929185,
    0.0831319122659226149,   -0.43506924649908066,    2.79773400245145955,
    -19.9920138817962973,    143.174491699111766,     -946.735103403061616,
    5465.41905899238367,     -26528.5879031547685,    105254.083416075463,
    -332607.818112732497,    812734.350015317639,     -1475230.07401326857,
    1868173.44414082113,     -1470573.78079530755,    541068.276957334701};

/// A number as a sum of two, of which the first is one of f32.
struct TwoParts {
  double high, low;
};
constexpr TwoParts kE = {2.71828174591064453, 8.25484007041102875e-8};
constexpr TwoParts kRoot = {1.4616321325302124, 1.24381499389189095e-8};
constexpr TwoParts kRootMinusOne = {0.4616321325302124, 1.24381499389189095e-8};

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
  const Tensor is_negative = x < 0.0;
  const Tensor distance = fraction(size);
  const Tensor sine = abs(function(kSineOp, distance * kPi));
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
  const Tensor angle = fraction(x) * kPi;
  const Tensor cotangent = function(kCosineOp, angle) / function(kSineOp, angle);
  const Tensor none = x.like(std::numeric_limits<double>::quiet_NaN());
  const Tensor negative = select(angle == 0.0, none, positive - cotangent * kPi);
  return select(is_negative, negative, positive);
}

}  // namespace

const OpDefinition kLgammaOp{
    .name = "chlo.lgamma",
    .summary = "The logarithm of the magnitude of the gamma function of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<log_gamma>,
    .lowerings = {ExpandLowering{expand_unary<log_gamma_formula>}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kDigammaOp{
    .name = "chlo.digamma",
    .summary = "The derivative of chlo.lgamma at each element; NaN at its poles.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<digamma>,
    .lowerings = {ExpandLowering{expand_unary<digamma_formula>}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
