// Complex numbers as pairs of floats, the real part first.

#include <limits>

#include "compiler/passes/split/complex.h"

namespace superstep::split {

Complex select(Tensor condition, Complex a, Complex b) {
  return {superstep::select(condition, a.real, b.real),
          superstep::select(condition, a.imaginary, b.imaginary)};
}

Tensor infinity(Tensor like) { return like.like(std::numeric_limits<double>::infinity()); }

Tensor with_sign_of(Tensor x, Tensor sign) {
  if (x.dtype() == DType::kF64) {
    const Tensor bits = bitcast(sign, {DType::kI64, sign.shape()});
    return superstep::select(bits < 0.0, -x, x);
  }
  // Times 1 with that sign, which there are vector instructions for.
  const Tensor bits = bitcast(sign, {DType::kU32, sign.shape()});
  const Tensor one = (bits & bits.like(0x80000000)) | bits.like(0x3f800000);
  return x * bitcast(one, x.type());
}

namespace {

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

Complex add(Complex a, Complex b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
Complex subtract(Complex a, Complex b) { return {a.real - b.real, a.imaginary - b.imaginary}; }
Complex multiply(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
Complex square(Complex a) {
  const Tensor half = a.real * a.imaginary;
  const Tensor difference = a.real - a.imaginary, sum = a.real + a.imaginary;
  // Nothing times what overflows is nothing.
  const Tensor is_zero = (difference == 0.0) | (sum == 0.0);
  return {superstep::select(is_zero, half.like(0), difference * sum), half + half};
}
Complex negate(Complex a) { return {-a.real, -a.imaginary}; }

GraphBit is_infinite(Complex z) {
  const Tensor x = abs(z.real), y = abs(z.imaginary);
  return {compare("EQ", x, infinity(x)) | compare("EQ", y, infinity(y))};
}
GraphBit is_nan(Tensor x) { return {compare("NE", x, x)}; }

/// A size, which has no sign, with that of a number.
Tensor signed_size(Tensor size, Tensor number) {
  if (size.dtype() == DType::kF64) return with_sign_of(size, number);
  const TensorType words{DType::kU32, size.shape()};
  const Tensor bits = bitcast(number, words);
  return bitcast(bitcast(size, words) | (bits & bits.like(0x80000000)), size.type());
}

/// Where an infinite number lies: 1 for infinite parts, 0 for others, with their signs.
Complex direction(Complex z) {
  const auto part = [](Tensor x) {
    const Tensor size = abs(x);
    const Tensor is_far = compare("EQ", size, infinity(size));
    return signed_size(superstep::select(is_far, x.like(1), x.like(0)), x);
  };
  return {part(z.real), part(z.imaginary)};
}
/// A quotient of which neither part is a number: infinite by zero and of what is infinite, zero by
/// what is infinite (C11, annex G.5.1). Of two that are infinite, and of NaNs, it stays none.
Complex limit_of_quotient(Complex a, Complex b) {
  const GraphBit is_far{is_infinite(b)};
  const Tensor is_near = (!is_far).tensor;
  const GraphBit is_zero{(b.real == 0.0) & (b.imaginary == 0.0)};
  const Complex from = select(is_infinite(a).tensor & is_near, direction(a), a);
  const Complex to = select(is_far.tensor, direction(b), b);
  const Complex product{from.real * to.real + from.imaginary * to.imaginary,
                        from.imaginary * to.real - from.real * to.imaginary};
  const Complex side = select(is_zero.tensor, a, product);
  const Tensor none = b.real.like(0);
  const Tensor size = superstep::select(is_near, infinity(b.real), none);
  const Tensor length = signed_size(size, superstep::select(is_zero.tensor, b.real, none));
  return {side.real * length, side.imaginary * length};
}

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
  const Complex quotient{real, superstep::select(is_steep, -turned, turned)};
  const GraphBit is_none = is_nan(quotient.real) & is_nan(quotient.imaginary);
  return select(is_none.tensor, limit_of_quotient(a, b), quotient);
}

/// The parts of a number by size, without signs, and the ratio of the smaller to the larger; 1 of
/// equal ones, infinite and 0 too.
struct Sizes {
  Tensor larger, smaller, ratio;
};
Sizes sizes_of(Complex z) {
  const Tensor x = abs(z.real), y = abs(z.imaginary);
  const Tensor larger = maximum(x, y), smaller = minimum(x, y);
  const Tensor ratio = smaller / larger;
  return {larger, smaller, superstep::select(compare("EQ", larger, smaller), ratio.like(1), ratio)};
}

}  // namespace

Tensor absolute(Complex z) {
  const auto [larger, smaller, ratio] = sizes_of(z);
  const Tensor length = larger * sqrt(ratio * ratio + 1.0);
  return superstep::select(is_infinite(z).tensor, infinity(larger), length);
}

Tensor log_of_absolute(Complex z) {
  const auto [larger, smaller, ratio] = sizes_of(z);
  const Tensor length = apply(kLogOp, larger) + apply(kLogPlusOneOp, ratio * ratio) * 0.5;
  return superstep::select(is_infinite(z).tensor, infinity(length), length);
}

namespace {

Complex sign(Complex z) {
  const Tensor length = absolute(z);
  const Complex unit{z.real / length, z.imaginary / length};
  return select(length == 0.0, z, unit);
}

/// Of so much and less the exponential is finite.
double largest_power(Tensor like) { return like.dtype() == DType::kF64 ? 709.0 : 88.0; }

Complex turned(Tensor length, Tensor angle) {
  const Tensor imaginary = length * apply(kSineOp, angle);
  // An infinite length times the sine of 0 is no number.
  return {length * apply(kCosineOp, angle), superstep::select(angle == 0.0, angle, imaginary)};
}
/// In two steps, so that a product is finite where the length is not.
Complex exponential(Complex z) {
  const Tensor root = apply(kExponentialOp, z.real * 0.5);
  const Complex half = turned(root, z.imaginary);
  const Tensor imaginary =
      superstep::select(z.imaginary == 0.0, z.imaginary, half.imaginary * root);
  const Complex whole{half.real * root, imaginary};
  const Complex plain = turned(apply(kExponentialOp, z.real), z.imaginary);
  return select(z.real > largest_power(z.real), whole, plain);
}
Complex exponential_minus_one(Complex z) {
  const Tensor half = apply(kSineOp, z.imaginary * 0.5);
  const Tensor real =
      apply(kExponentialMinusOneOp, z.real) * apply(kCosineOp, z.imaginary) - half * half * 2.0;
  return {real, exponential(z).imaginary};
}

/// Near 1 from the distance to it, which keeps what the length would round off.
Complex logarithm(Complex z) {
  const auto [larger, smaller, ratio] = sizes_of(z);
  const Tensor far = apply(kLogOp, larger) + apply(kLogPlusOneOp, ratio * ratio) * 0.5;
  const Tensor excess = (larger - 1.0) * (larger + 1.0) + smaller * smaller;
  const Tensor near = apply(kLogPlusOneOp, excess) * 0.5;
  const Tensor is_near = (larger > 0.5) & (larger < 2.0);
  const Tensor length = superstep::select(is_near, near, far);
  return {superstep::select(is_infinite(z).tensor, infinity(length), length),
          apply(kAtan2Op, z.imaginary, z.real)};
}
/// log(1 + z), by x (x + 2) + y^2 where z is small.
Complex logarithm_plus_one(Complex z) {
  const Complex sum{z.real + 1.0, z.imaginary};
  const Tensor excess = z.real * (z.real + 2.0) + z.imaginary * z.imaginary;
  const Tensor is_near = sizes_of(z).larger < 0.5;
  const Complex far = logarithm(sum);
  return {superstep::select(is_near, apply(kLogPlusOneOp, excess) * 0.5, far.real), far.imaginary};
}

/// The larger part from the sum of length and real part, which does not cancel, the other one by
/// division.
Complex square_root(Complex z) {
  const auto [size, smaller, ratio] = sizes_of(z);
  const Tensor x = abs(z.real), y = abs(z.imaginary);
  const Tensor share = superstep::select(compare("GE", x, y), x.like(1), ratio);
  const Tensor larger = sqrt(size) * sqrt((sqrt(ratio * ratio + 1.0) + share) * 0.5);
  const Tensor other = y / (larger + larger);
  const GraphBit is_right{compare("GE", z.real, z.real.like(0))};
  const Tensor real = superstep::select(is_right.tensor, larger, other);
  const Tensor length = superstep::select(is_right.tensor, other, larger);
  // Above the branch cut with an imaginary part of 0, below it with -0.
  const Complex root{real, with_sign_of(length, z.imaginary)};
  const Complex number = select(size == 0.0, {size, z.imaginary}, root);
  // Of an infinite imaginary part both parts are infinite; else the real part decides.
  const Tensor far = infinity(size);
  const Tensor signed_far = with_sign_of(far, z.imaginary);
  const Tensor is_steep = compare("EQ", y, far);
  const Tensor is_flat = compare("EQ", x, far);
  const Tensor none = z.imaginary * 0.0;
  const Complex flat = select(is_right.tensor, {far, none}, {abs(none), signed_far});
  return select(is_steep, {far, z.imaginary}, select(is_flat, flat, number));
}
Complex reciprocal_root(Complex z) {
  const Complex root = square_root(z);
  return divide({root.real.like(1), root.real.like(0)}, root);
}

/// Two real functions of one part and two of the other, which sine and cosine are products of.
struct Factors {
  Tensor sinh, cosh;  ///< of |x|
  Tensor half_power;  ///< e^(|x| / 2) / 2, where the others may be infinite
  Tensor is_large, sine, cosine;
};
Factors factors_of(Tensor x, Tensor angle) {
  const Tensor size = abs(x);
  const Tensor rise = apply(kExponentialMinusOneOp, size);
  const Tensor fall = rise / (rise + 1.0);
  const Tensor half = (rise + fall) * 0.5;
  return {half,
          (rise + 1.0) * 0.5 + (rise.like(1) - fall) * 0.5,
          apply(kExponentialOp, size * 0.5) * 0.5,
          size > largest_power(x),
          apply(kSineOp, angle),
          apply(kCosineOp, angle)};
}
/// `hyperbolic` times `factor`, in two steps where only the whole product may be finite.
Tensor product(const Factors& f, Tensor hyperbolic, Tensor factor) {
  const Tensor large = (f.half_power * factor) * (f.half_power + f.half_power);
  return superstep::select(f.is_large, large, hyperbolic * factor);
}
/// sinh(x + iy) = sinh x cos y + i cosh x sin y; nothing times what overflows is nothing.
Complex hyperbolic_sine(Complex z) {
  const Factors f = factors_of(z.real, z.imaginary);
  const Tensor imaginary = product(f, f.cosh, f.sine);
  return {with_sign_of(product(f, f.sinh, f.cosine), z.real),
          superstep::select(z.imaginary == 0.0, z.imaginary, imaginary)};
}
/// cosh(x + iy) = cosh x cos y + i sinh x sin y.
Complex hyperbolic_cosine(Complex z) {
  const Factors f = factors_of(z.real, z.imaginary);
  const Tensor size = product(f, f.sinh, f.sine);
  const Tensor imaginary = superstep::select(z.imaginary == 0.0, z.imaginary, size);
  return {product(f, f.cosh, f.cosine), with_sign_of(imaginary, z.real)};
}
/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y), where nothing cancels. Where x is large,
/// the length is 1 and the angle 4 sin y cos y e^(-2 |x|).
Complex tangent(Complex z) {
  const Tensor size = abs(z.real);
  const double large = z.real.dtype() == DType::kF64 ? 22.0 : 10.0;
  const Tensor is_large = size > large;
  const Tensor x = superstep::select(is_large, size.like(large), size);
  const Factors f = factors_of(x, z.imaginary);
  const Tensor divisor = f.sinh * f.sinh + f.cosine * f.cosine;
  const Tensor turn = f.sine * f.cosine;
  const Tensor fall = apply(kExponentialOp, size * -2.0);
  const Tensor real = superstep::select(is_large, size.like(1), f.sinh * f.cosh / divisor);
  const Tensor imaginary = superstep::select(is_large, turn * fall * 4.0, turn / divisor);
  // Nothing is left of an angle that is infinite.
  const Tensor is_end = compare("EQ", size, infinity(size));
  const Tensor none = with_sign_of(size.like(0), z.imaginary);
  return {with_sign_of(real, z.real), superstep::select(is_end, none, imaginary)};
}

Complex swapped(Complex z) { return {z.imaginary, z.real}; }
// sin(z) = -i sinh(iz), tan(z) = -i tanh(iz).
Complex sine(Complex z) { return swapped(hyperbolic_sine(swapped(z))); }
Complex plain_tangent(Complex z) { return swapped(tangent(swapped(z))); }
/// cos(z) = cosh(iz)
Complex cosine(Complex z) { return hyperbolic_cosine({-z.imaginary, z.real}); }

Complex converted(Complex z, DType dtype) {
  return {convert(z.real, dtype), convert(z.imaginary, dtype)};
}
/// e^(b log(a)) of f32. A power takes the error of a logarithm times its exponent, and angles have
/// to be exact to a part of a turn, so it is computed in f64, where squares of f32 are exact.
Complex power_of_single(Complex a, Complex b) {
  const Complex base = converted(a, DType::kF64), exponent = converted(b, DType::kF64);
  const Tensor square = base.real * base.real + base.imaginary * base.imaginary;
  const Complex log{apply(kLogOp, square) * 0.5, apply(kAtan2Op, base.imaginary, base.real)};
  const Complex result = multiply(exponent, log);
  return converted(turned(apply(kExponentialOp, result.real), result.imaginary), DType::kF32);
}

Complex power(Complex a, Complex b) {
  const bool is_single = a.real.dtype() == DType::kF32;
  const Complex result = is_single ? power_of_single(a, b) : exponential(multiply(b, logarithm(a)));
  const GraphBit base_is_zero{(a.real == 0.0) & (a.imaginary == 0.0)};
  const GraphBit exponent_is_zero{(b.real == 0.0) & (b.imaginary == 0.0)};
  const GraphBit exponent_is_positive{(b.real > 0.0) & (b.imaginary == 0.0)};
  const Tensor zero = result.real.like(0), one = result.real.like(1);
  const Tensor none = zero.like(std::numeric_limits<double>::quiet_NaN());
  const Complex of_zero = select(exponent_is_zero.tensor, {one, zero},
                                 select(exponent_is_positive.tensor, {zero, zero}, {none, none}));
  return select(base_is_zero.tensor, of_zero, result);
}
/// The root with a third of the angle.
Complex cube_root(Complex z) {
  const Tensor angle = apply(kAtan2Op, z.imaginary, z.real) / 3.0;
  return turned(apply(kCbrtOp, absolute(z)), angle);
}
/// -i log((x + i y) / sqrt(x^2 + y^2))
Complex arc_tangent_of_two(Complex y, Complex x) {
  const Complex sum{x.real - y.imaginary, x.imaginary + y.real};
  const Complex length = square_root(add(square(x), square(y)));
  const Complex log = logarithm(divide(sum, length));
  return {log.imaginary, -log.real};
}
Complex logistic(Complex z) {
  const Complex fall = exponential(negate(z));
  return divide({fall.real.like(1), fall.real.like(0)}, {fall.real + 1.0, fall.imaginary});
}

/// By the real parts, equal ones by the imaginary parts.
Tensor is_below(Complex a, Complex b) {
  return compare("LT", a.real, b.real) |
         (compare("EQ", a.real, b.real) & compare("LT", a.imaginary, b.imaginary));
}
Complex larger_of(Complex a, Complex b) { return select(is_below(a, b), b, a); }
Complex smaller_of(Complex a, Complex b) { return select(is_below(b, a), b, a); }
Parts clamp(const WideOp& op) {
  const Complex held = smaller_of(larger_of(operand(op, 1), operand(op, 0)), operand(op, 2));
  return {held.real, held.imaginary};
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
    {&kTanOp, unary<plain_tangent>},
    {&kChloTanOp, unary<plain_tangent>},
    {&kSinhOp, unary<hyperbolic_sine>},
    {&kCoshOp, unary<hyperbolic_cosine>},
    {&kAsinOp, unary<arc_sine>},
    {&kAcosOp, unary<arc_cosine>},
    {&kAtanOp, unary<arc_tangent>},
    {&kAsinhOp, unary<hyperbolic_arc_sine>},
    {&kAcoshOp, unary<hyperbolic_arc_cosine>},
    {&kAtanhOp, unary<hyperbolic_arc_tangent>},
    {&kExponentialMinusOneOp, unary<exponential_minus_one>},
    {&kLogPlusOneOp, unary<logarithm_plus_one>},
    {&kLogisticOp, unary<logistic>},
    {&kSineOp, unary<sine>},
    {&kCosineOp, unary<cosine>},
    {&kPowerOp, binary<power>},
    {&kCbrtOp, unary<cube_root>},
    {&kAtan2Op, binary<arc_tangent_of_two>},
    {&kMaximumOp, binary<larger_of>},
    {&kMinimumOp, binary<smaller_of>},
    {&kClampOp, clamp},
    {&kCompareOp, compare_numbers},
};

}  // namespace

std::span<const Rule> complex_rules() { return kRules; }

}  // namespace superstep::split
