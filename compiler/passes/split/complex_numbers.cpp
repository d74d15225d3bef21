// complex<f32> as pairs of f32, the real part first.

#include <limits>

#include "compiler/passes/split/rules.h"

namespace superstep::split {
namespace {

struct Complex {
  Tensor real, imaginary;
};

Complex operand(const WideOp& op, std::size_t i) { return {op.operands[i][0], op.operands[i][1]}; }
Parts parts(Complex z) { return {z.real, z.imaginary}; }

template <Complex (*kFunction)(Complex)>
Parts unary(const WideOp& op) {
  return parts(kFunction(operand(op, 0)));
}
template <Complex (*kFunction)(Complex, Complex)>
Parts binary(const WideOp& op) {
  return parts(kFunction(operand(op, 0), operand(op, 1)));
}
template <Tensor (*kFunction)(Complex)>
Parts to_real(const WideOp& op) {
  return {kFunction(operand(op, 0))};
}

Complex scaled(Complex z, Tensor factor) { return {z.real * factor, z.imaginary * factor}; }
Complex select(Tensor condition, Complex a, Complex b) {
  return {superstep::select(condition, a.real, b.real),
          superstep::select(condition, a.imaginary, b.imaginary)};
}

Complex add(Complex a, Complex b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
Complex subtract(Complex a, Complex b) { return {a.real - b.real, a.imaginary - b.imaginary}; }
Complex multiply(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
Complex square(Complex a) { return multiply(a, a); }
Complex negate(Complex a) { return {-a.real, -a.imaginary}; }

/// Smith's method: by the ratio of the smaller part of the divisor to the larger one, so that
/// nothing overflows on the way.
Complex divide(Complex a, Complex b) {
  const Tensor is_steep = compare("GT", abs(b.imaginary), abs(b.real));
  const Tensor larger = superstep::select(is_steep, b.imaginary, b.real);
  const Tensor smaller = superstep::select(is_steep, b.real, b.imaginary);
  const Tensor ratio = smaller / larger;
  const Tensor divisor = larger + smaller * ratio;
  const Tensor first = superstep::select(is_steep, a.imaginary, a.real);
  const Tensor second = superstep::select(is_steep, a.real, a.imaginary);
  const Tensor real = (first + second * ratio) / divisor;
  const Tensor turned = (second - first * ratio) / divisor;
  return {real, superstep::select(is_steep, -turned, turned)};
}

/// sqrt(x^2 + y^2) by the ratio of the smaller to the larger; infinite where a part is.
Tensor absolute(Complex z) {
  const Tensor x = abs(z.real), y = abs(z.imaginary);
  const Tensor larger = maximum(x, y), smaller = minimum(x, y);
  const Tensor ratio = smaller / larger;
  const Tensor length = larger * sqrt(ratio * ratio + 1.0);
  const Tensor infinity = larger.like(std::numeric_limits<double>::infinity());
  const Tensor is_plain = larger == 0.0;
  const Tensor is_infinite = compare("EQ", x, infinity) | compare("EQ", y, infinity);
  return superstep::select(is_infinite, infinity, superstep::select(is_plain, larger, length));
}
Complex sign(Complex z) {
  const Tensor length = absolute(z);
  const Complex unit{z.real / length, z.imaginary / length};
  return select(length == 0.0, z, unit);
}

Complex exponential(Complex z) {
  const Complex turned{apply(kCosineOp, z.imaginary), apply(kSineOp, z.imaginary)};
  const Complex result = scaled(turned, apply(kExponentialOp, z.real));
  // An infinite length times the sine of 0 is no number.
  const Tensor is_real = z.imaginary == 0.0;
  return {result.real, superstep::select(is_real, z.imaginary, result.imaginary)};
}
Complex logarithm(Complex z) {
  return {apply(kLogOp, absolute(z)), apply(kAtan2Op, z.imaginary, z.real)};
}

/// Of the right half plane: the larger part from the sum of length and real part, which does not
/// cancel, the other one by division.
Complex square_root(Complex z) {
  const Tensor larger = sqrt(absolute(z) * 0.5 + abs(z.real) * 0.5);
  const Tensor other = abs(z.imaginary) / (larger + larger);
  const Tensor is_right = compare("GE", z.real, z.real.like(0));
  const Tensor is_zero = larger == 0.0;
  const Tensor real = superstep::select(is_right, larger, other);
  const Tensor length = superstep::select(is_right, other, larger);
  const Tensor imaginary = superstep::select(z.imaginary < 0.0, -length, length);
  return select(is_zero, {larger, z.imaginary}, {real, imaginary});
}
Complex reciprocal_root(Complex z) {
  const Complex root = square_root(z);
  return divide({root.real.like(1), root.real.like(0)}, root);
}

/// (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), by functions that stay finite.
Complex tangent(Complex z) {
  const Tensor t = apply(kTanhOp, z.real), y = z.imaginary;
  const Tensor c = apply(kCosineOp, y), s = apply(kSineOp, y);
  // tanh(x + iy) = (t + i tan y) / (1 + i t tan y), both sides times cos y.
  return divide({t * c, s}, {c, t * s});
}

Tensor real(Complex z) { return z.real; }
Tensor imaginary(Complex z) { return z.imaginary; }
Parts complex(const WideOp& op) { return {op.operands[0][0], op.operands[1][0]}; }

Parts compare_numbers(const WideOp& op) {
  const Complex a = operand(op, 0), b = operand(op, 1);
  const GraphBit equal{compare("EQ", a.real, b.real) & compare("EQ", a.imaginary, b.imaginary)};
  // Neither below nor above: unequal is what is not equal.
  return superstep::split::parts(compared(op.op, !equal, equal, !equal));
}

constexpr Rule kRules[] = {
    {&kAddOp, binary<add>},
    {&kSubtractOp, binary<subtract>},
    {&kMultiplyOp, binary<multiply>},
    {&kSquareOp, unary<square>},
    {&kDivideOp, binary<divide>},
    {&kNegateOp, unary<negate>},
    {&kSignOp, unary<sign>},
    {&kAbsOp, to_real<absolute>},
    {&kRealOp, to_real<real>},
    {&kImagOp, to_real<imaginary>},
    {&kComplexOp, complex},
    {&kExponentialOp, unary<exponential>},
    {&kLogOp, unary<logarithm>},
    {&kSqrtOp, unary<square_root>},
    {&kRsqrtOp, unary<reciprocal_root>},
    {&kTanhOp, unary<tangent>},
    {&kCompareOp, compare_numbers},
};

}  // namespace

std::span<const Rule> complex_rules() { return kRules; }

}  // namespace superstep::split
