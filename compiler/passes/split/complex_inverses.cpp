// Inverse trigonometric and hyperbolic functions of complex numbers.

#include <numbers>

#include "compiler/passes/split/complex.h"

namespace superstep::split {
namespace {

/// From here on the square of a number plus 1 is its square, and no square overflows below.
constexpr double kLarge = 0x1p60;

Tensor apply_to(const OpDefinition& op, Tensor x) { return superstep::split::apply(op, x); }
Tensor angle(Tensor y, Tensor x) { return superstep::split::apply(kAtan2Op, y, x); }
Tensor choose(Tensor condition, Tensor a, Tensor b) { return superstep::select(condition, a, b); }

/// What arc sine and arc cosine are made of, of the sizes x and y of both parts: with a the half
/// of the distances from -1 and 1 together, sqrt(a^2 - x^2) and arcosh(a) without cancellation
/// (Hull, Fairgrieve and Tang, Implementing the complex arcsine and arccosine functions using
/// exception handling, 1997).
struct ArcSine {
  Tensor x, leg, height;
};
ArcSine arc_sine_of_sizes(Tensor x, Tensor y) {
  const Tensor is_large = (x > kLarge) | (y > kLarge);
  const Tensor right = x + 1.0, left = x - 1.0, beside = x.like(1) - x;
  const Tensor r = absolute({right, y}), s = absolute({left, y});
  const Tensor a = (r + s) * 0.5;
  const Tensor is_inside = x < 1.0;
  const Tensor far = r + right;
  const Tensor near = s + choose(is_inside, beside, left);
  const Tensor sum = a + x, square = y * y;
  // Within: all of a^2 - x^2 = (a + x) (a - x) is positive; beyond, y is a factor.
  const Tensor within = sqrt((sum * 0.5) * (square / far + near));
  const Tensor beyond = y * sqrt((sum / far + sum / near) * 0.5);
  const Tensor leg = choose(compare("LE", x, x.like(1)), within, beyond);
  // a - 1, and its root times that of a + 1.
  const Tensor inverses = (x.like(1) / far + x.like(1) / near) * 0.5;
  const Tensor excess_beyond = (square / far + near) * 0.5;
  const Tensor excess = choose(is_inside, square * inverses, excess_beyond);
  const Tensor more = a + 1.0;
  const Tensor root = choose(is_inside, y * sqrt(inverses * more), sqrt(excess_beyond * more));
  const Tensor height = apply_to(kLogPlusOneOp, excess + root);
  const Tensor large_height = log_of_absolute({x, y}) + std::numbers::ln2;
  return {x, choose(is_large, y, leg), choose(is_large, large_height, height)};
}

Complex signed_arc_sine(Complex z) {
  const ArcSine arc = arc_sine_of_sizes(abs(z.real), abs(z.imaginary));
  return {with_sign_of(angle(arc.x, arc.leg), z.real), with_sign_of(arc.height, z.imaginary)};
}

/// The real part of the arc cosine, and the size of the imaginary part.
Complex arc_cosine_of_sizes(Complex z) {
  const ArcSine arc = arc_sine_of_sizes(abs(z.real), abs(z.imaginary));
  return {angle(arc.leg, with_sign_of(arc.x, z.real)), arc.height};
}

Complex signed_hyperbolic_arc_tangent(Complex z) {
  const Tensor x = abs(z.real), y = abs(z.imaginary);
  const Tensor is_large = (x > kLarge) | (y > kLarge);
  const Tensor beside = x.like(1) - x;
  const Tensor plain = apply_to(kLogPlusOneOp, x * 4.0 / (beside * beside + y * y)) * 0.25;
  // Next to 1 the square of y may be 0.
  const Tensor is_next = (x == 1.0) & (y < 0x1p-30);
  const Tensor next = (x.like(std::numbers::ln2) - apply_to(kLogOp, y)) * 0.5;
  // x / (x^2 + y^2), in which no square overflows.
  const Tensor longer = maximum(x, y), ratio = minimum(x, y) / longer;
  const Tensor is_infinite = compare("EQ", longer, infinity(longer));
  const Tensor share = (x / longer) / (ratio * ratio + 1.0);
  const Tensor large = choose(is_infinite, x.like(0), share / longer);
  const Tensor real = choose(is_large, large, choose(is_next, next, plain));
  const Tensor turn = angle(y + y, beside * (x + 1.0) - y * y) * 0.5;
  const Tensor imaginary = choose(is_large, x.like(std::numbers::pi / 2), turn);
  const Complex result{with_sign_of(real, z.real), with_sign_of(imaginary, z.imaginary)};
  // Of one part that is no number the length has none, unless the other part is infinite, and the
  // angle is right: XLA's on a CPU, to which a NaN is negative and -0 is not.
  const Tensor has_none = compare("NE", x, x) | compare("NE", y, y);
  const Tensor has_end = compare("EQ", x, infinity(x)) | compare("EQ", y, infinity(y));
  const Tensor length = choose(has_end, x.like(0), x + y);
  const Tensor right = x.like(std::numbers::pi / 2);
  const Complex of_none{choose(compare("GE", z.real, x.like(0)), length, -length),
                        choose(compare("GE", z.imaginary, x.like(0)), right, -right)};
  return select(has_none, of_none, result);
}

/// f(x + i y) as -i g(i (x + i y)), for g that are odd and have real values on the real axis.
template <Complex (*kFunction)(Complex)>
Complex turned(Complex z) {
  const Complex result = kFunction({z.imaginary, z.real});
  return {result.imaginary, result.real};
}

}  // namespace

Complex arc_sine(Complex z) { return signed_arc_sine(z); }
Complex arc_cosine(Complex z) {
  const Complex arc = arc_cosine_of_sizes(z);
  return {arc.real, with_sign_of(arc.imaginary, -z.imaginary)};
}
// As -i g(i z), whose signs of zero are XLA's where a part is no number.
Complex arc_tangent(Complex z) {
  const Complex result = signed_hyperbolic_arc_tangent({-z.imaginary, z.real});
  return {result.imaginary, -result.real};
}
Complex hyperbolic_arc_sine(Complex z) { return turned<signed_arc_sine>(z); }
Complex hyperbolic_arc_cosine(Complex z) {
  const Complex arc = arc_cosine_of_sizes(z);
  return {arc.imaginary, with_sign_of(arc.real, z.imaginary)};
}
Complex hyperbolic_arc_tangent(Complex z) { return signed_hyperbolic_arc_tangent(z); }

}  // namespace superstep::split
