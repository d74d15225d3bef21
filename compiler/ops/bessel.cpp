#include <cmath>
#include <limits>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/pair.h"
#include "compiler/ops/series.h"
#include "compiler/ops/special_singles.h"

namespace superstep {
namespace {

/// By the series of I1 where that is short, beyond by the asymptotic one.
double scaled_bessel(double argument) {
  const long double x = std::fabs(static_cast<long double>(argument));
  long double sum = 0, term = 0;
  if (x < 40) {
    term = x / 2 * std::exp(-x);
    for (int k = 1; k < 200; ++k) {
      sum += term;
      term *= x * x / 4 / (static_cast<long double>(k) * (k + 1));
    }
  } else {
    term = 1 / std::sqrt(2 * 3.14159265358979323846264338327950288L * x);
    for (int k = 1; k < 30; ++k) {
      sum += term;
      const long double odd = 2 * k - 1;
      term *= (odd * odd - 4) / (8 * k * x);
    }
  }
  return static_cast<double>(std::signbit(argument) ? -sum : sum);
}

// Fitted at Chebyshev nodes; for f32 off by less than 2^-29, for f64 by less than 2^-56.
/// e^-x I1(x) / x over x / 4 - 1, to 8.
constexpr double kBesselNearSingle[] = {
    0.04468770986,   -0.06112433803,  0.06805760213,   -0.06848260694,  0.06376733065,
    -0.05528001504,  0.04467550316,   -0.0336716637,   0.02368001667,   -0.01556932092,
    0.009606095386,  -0.005541908245, 0.00295636284,   -0.001522471036, 0.0008120479434,
    -0.000363645204, 9.375809887e-5,  -4.317720058e-5, 4.747908203e-5,  -1.694785152e-5};
constexpr double kBesselNearDouble[] = {
    0.0446877098756088318,    -0.0611243380296662926,  0.0680575999095116192,
    -0.0684826062058255003,   0.063767403713405739,    -0.0552800392270502358,
    0.0446745726212980216,    -0.0336713555199505223,  0.0236860169570606887,
    -0.0155713092564178241,   0.00958396215694440184,  -0.00553456776200711603,
    0.00300576238212405132,   -0.00153887495477938151, 0.000744512500912851146,
    -0.000341174780620352445, 0.000148420784554547269, -0.0000614264052153554349,
    0.0000242347187139559099, -9.13207435886349698e-6, 3.29243554689447758e-6,
    -1.13773002368428146e-6,  3.77520704644383398e-7,  -1.2037821195533037e-7,
    3.68361284098179142e-8,   -1.09088225731921387e-8, 3.19822972655423757e-9,
    -8.78784030053833279e-10, 1.96542167519032164e-10, -5.1902941581491718e-11,
    2.35070855603409884e-11,  -5.56973536690535819e-12};
/// e^-x I1(x) sqrt(x) over 16 / x - 1, from 8 on.
constexpr double kBesselFarSingle[] = {0.389398459,     -0.009749581527, -0.0002192366694,
                                       -1.500332307e-5, -1.826714505e-6, -4.215554373e-7,
                                       -1.221249847e-7};
constexpr double kBesselFarDouble[] = {
    0.38939845902587233,       -0.00974957719323572892, -0.000219235763834302752,
    -0.0000150385472011762714, -1.83491011346664344e-6, -3.48385560900993685e-7,
    -1.00013234610664349e-7,   -4.3129353699713559e-8,  -2.33705962711185687e-8,
    -8.42662282959815441e-9,   6.71579512808501758e-9,  1.4029693589852717e-8,
    6.04087734216098814e-9,    -7.63075197006557779e-9, -8.04423127616650848e-9,
    3.40663613019679426e-9,    6.48701957198168956e-9,  -1.41716980186645964e-9,
    -4.0477854037118586e-9,    5.14649882608714187e-10, 1.85137167455119885e-9,
    -1.34226632008222207e-10,  -5.3882859959235238e-10, 1.75024977787013058e-11,
    7.34799244173466388e-11};

Tensor scaled_bessel_formula(Tensor x) {
  const Tensor size = abs(x);
  const Tensor near = x * polynomial(size * 0.25 - 1.0, {kBesselNearSingle, kBesselNearDouble});
  const Tensor far =
      polynomial(x.like(16) / size - 1.0, {kBesselFarSingle, kBesselFarDouble}) / sqrt(size);
  return select(size > 8.0, select(x < 0.0, -far, far), near);
}

}  // namespace

Tensor scaled_bessel_of_single(Tensor x) {
  const Tensor size = abs(x);
  const Pair place = exact_sum(size * 0.25, size.like(-1));
  const Tensor product = rounded(polynomial(place, kBesselNearSingle, 10) * x);
  // Sums of pairs lose the sign of a zero.
  const Tensor near = select(product == 0.0, x * 0.0, product);
  // From 1e30 on only the root counts, and pairs would overflow.
  const Tensor bounded = minimum(size, size.like(1e30));
  const Pair inverse = pair_like(size, 16) / Pair{bounded, size.like(0)} + size.like(-1);
  // The square of the largest number's root would be infinite.
  const Tensor is_huge = size > 1e30;
  const Tensor scaled = select(is_huge, size * 0x1p-64, size);
  const Tensor root = sqrt(scaled);
  const Pair square = exact_product(root, root);
  const Tensor lost = ((scaled - square.high) - square.low) / (root + root);
  const Tensor by_root = rounded(polynomial(inverse, kBesselFarSingle, 3) / Pair{root, lost});
  const Tensor far = select(is_huge, by_root * 0x1p-32, by_root);
  const Tensor is_end = compare("EQ", size, size.like(std::numeric_limits<double>::infinity()));
  const Tensor ended = select(is_end, size.like(0), far);
  return select(size > 8.0, select(x < 0.0, -ended, ended), near);
}

const OpDefinition kBesselI1eOp{
    .name = "chlo.bessel_i1e",
    .summary =
        "The modified Bessel function of the first kind of order 1, times e^-|x|, of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_float<scaled_bessel>,
    .lowerings = {ExpandLowering{expand_special<scaled_bessel_of_single, scaled_bessel_formula>}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
