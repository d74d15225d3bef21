#include "compiler/passes/narrow/codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/narrow_float.h"
#include "compiler/ops/ops.h"

namespace superstep::narrow {
namespace {

using Kind = NarrowFloat::Kind;

constexpr std::uint32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;
constexpr int kMantissa = 23, kBias = 127;

Tensor word(Tensor like, std::uint32_t value) { return like.like(static_cast<double>(value)); }
Tensor as_words(Tensor x) { return bitcast(x, {DType::kU32, x.shape()}); }
Tensor as_floats(Tensor x) { return bitcast(x, {DType::kF32, x.shape()}); }
/// a >= b as unsigned words.
Tensor reaches(Tensor a, std::uint32_t b) { return compare("GE", a, word(a, b)); }

/// Words of f32 that are powers of two by their exponents.
Tensor powers(Tensor u) {
  const Tensor normal = u << kMantissa;
  const Tensor least = select(u == 0.0, word(u, 1U << (kMantissa - 1)), normal);
  return select(u == 255.0, word(u, kNaN), least);
}

Tensor codes_of_powers(Tensor u) {
  // Halfway between two powers is 1.5 times the lower one.
  constexpr std::uint32_t kHalf = 1U << (kMantissa - 1), kOne = 1U << kMantissa;
  const Tensor rounded = (u + word(u, kHalf)) >> kMantissa;
  const Tensor subnormal = select(reaches(u, kHalf + 1), u.like(1), u.like(0));
  const Tensor code = select(reaches(u, kOne), rounded, subnormal);
  const Tensor is_none = reaches(u, kInfinity) | (u == 0.0);  // a sign is the highest bit
  return select(is_none, u.like(255), code);
}

Tensor float_numbers(Tensor stored, const NarrowFloat& format) {
  Tensor u = convert(stored, DType::kU32);
  if (format.kind == Kind::kPower) return as_floats(powers(u));
  if (format.width < 8) u = u & word(u, format.codes() - 1);
  const int m = format.mantissa_bits;
  const Tensor magnitude = u & word(u, format.sign_bit() - 1);
  const auto rebias = static_cast<std::uint32_t>(kBias - format.bias) << kMantissa;
  const Tensor normal = (magnitude << (kMantissa - m)) + word(u, rebias);
  const Tensor subnormal =
      as_words(convert(magnitude, DType::kF32) * std::ldexp(1.0, 1 - format.bias - m));
  Tensor bits = select(reaches(magnitude, 1U << m), normal, subnormal);
  if (format.kind == Kind::kIeee) {
    const Tensor is_infinite = magnitude == static_cast<double>(format.infinity());
    const Tensor special = select(is_infinite, word(u, kInfinity), word(u, kNaN));
    bits = select(reaches(magnitude, format.infinity()), special, bits);
  } else if (format.kind == Kind::kFinite) {
    bits = select(reaches(magnitude, format.infinity()), word(u, kNaN), bits);
  }
  bits = bits | (u & word(u, format.sign_bit())) << (32 - format.width);
  if (format.kind == Kind::kUnsigned) {
    bits = select(u == static_cast<double>(format.nan()), word(u, kNaN), bits);
  }
  return as_floats(bits);
}

Tensor float_codes(Tensor numbers, const NarrowFloat& format) {
  const Tensor u = as_words(numbers);
  if (format.kind == Kind::kPower) return convert(codes_of_powers(u), DType::kU8);
  const int m = format.mantissa_bits, shift = kMantissa - m;
  const Tensor a = u & word(u, 0x7fffffff);
  const Tensor sign = u >> (32 - format.width) & word(u, format.sign_bit());
  // To nearest even: a carry out of the mantissa runs into the exponent, as it should.
  const Tensor r = a - word(u, static_cast<std::uint32_t>(kBias - format.bias) << kMantissa);
  const Tensor normal = (r + word(u, (1U << (shift - 1)) - 1) + (r >> shift & word(u, 1))) >> shift;
  // A number whose last place is the least step of the format: the addition rounds.
  const float large = std::ldexp(1.0F, kMantissa + 1 - format.bias - m);
  const Tensor sum = as_words(as_floats(a) + static_cast<double>(large));
  const Tensor subnormal = sum - word(u, std::bit_cast<std::uint32_t>(large));
  const auto least_normal = static_cast<std::uint32_t>(kBias + 1 - format.bias) << kMantissa;
  const bool has_nan = format.kind != Kind::kNumbers;
  const Tensor magnitude = minimum(select(reaches(a, least_normal), normal, subnormal),
                                   word(u, format.infinity() - (has_nan ? 0 : 1)));
  Tensor code = magnitude | sign;
  if (format.kind == Kind::kIeee || !has_nan) {
    code = select(reaches(a, kInfinity + 1), word(u, format.nan()), code);
  } else {
    // Of NaN there is one then, and perhaps of zero.
    Tensor has_no_sign = reaches(magnitude, format.infinity());
    if (format.kind == Kind::kUnsigned) has_no_sign = has_no_sign | (magnitude == 0.0);
    code = select(has_no_sign, magnitude, code);
  }
  return convert(code, DType::kU8);
}

Tensor wrapped(Tensor x, DType dtype) {
  if (is_signed(dtype)) return sign_extended(x, dtype);
  return x & x.like(static_cast<double>((1 << bit_width(dtype)) - 1));
}

}  // namespace

DType stored_as(DType dtype) {
  if (!is_narrow(dtype)) return dtype;
  return is_narrow_integer(dtype) && is_signed(dtype) ? DType::kI8 : DType::kU8;
}

DType computed_as(DType dtype) { return is_narrow_float(dtype) ? DType::kF32 : stored_as(dtype); }

Tensor decoded(Tensor stored, DType dtype) {
  return is_narrow_float(dtype) ? float_numbers(stored, narrow_float(dtype)) : stored;
}

Tensor encoded(Tensor numbers, DType dtype) {
  if (!is_narrow(dtype)) return numbers;
  return is_narrow_float(dtype) ? float_codes(numbers, narrow_float(dtype))
                                : wrapped(numbers, dtype);
}

Tensor converted(Tensor x, DType to) {
  const Tensor numbers = convert(x, computed_as(to));
  if (!is_narrow_integer(to) || !(is_float(x.dtype()) || is_complex(x.dtype()))) {
    return encoded(numbers, to);
  }
  const int bits = bit_width(to);
  if (!is_signed(to)) return minimum(numbers, numbers.like((1 << bits) - 1));
  const double end = 1 << (bits - 1);
  return minimum(maximum(numbers, numbers.like(-end)), numbers.like(end - 1));
}

Tensor unsigned_bits(Tensor stored, DType dtype) {
  const Tensor bits = bitcast(stored, {DType::kU8, stored.shape()});
  return bits & bits.like((1 << bit_width(dtype)) - 1);
}

Tensor regrouped(Tensor stored, DType from, const TensorType& to) {
  constexpr int kByte = 8;
  const int from_bits = bit_width(from), to_bits = bit_width(to.dtype);
  const int unit = std::min(from_bits, kByte), part = std::min(to_bits, kByte);
  // Bytes, or what is shorter, along a last dimension.
  Shape shape = stored.shape();
  if (from_bits > kByte) shape.push_back(from_bits / kByte);
  Tensor bits = stored;
  if (from == DType::kI1) {
    bits = convert(stored, DType::kU8);
  } else {
    bits = from_bits > kByte ? bitcast(stored, {DType::kU8, shape}) : unsigned_bits(stored, from);
  }
  if (from_bits == kByte || (from_bits < kByte && from_bits > to_bits)) {
    shape.push_back(1);
    bits = reshape(bits, shape);
  }
  if (unit < part) {
    const std::int64_t count = part / unit;
    shape.back() /= count;
    shape.push_back(count);
    bits = reshape(bits, shape);
    Tensor joined = element_of_last(bits, 0);
    for (std::int64_t i = 1; i < count; ++i) {
      joined = joined | element_of_last(bits, i) << static_cast<int>(i) * unit;
    }
    bits = joined;
  } else if (unit > part) {
    shape.push_back(1);
    std::vector<Tensor> parts;
    for (int at = 0; at < unit; at += part) {
      const Tensor shifted = bits >> at;
      parts.push_back(reshape(shifted & shifted.like((1 << part) - 1), shape));
    }
    bits = concatenate(parts, static_cast<std::int64_t>(shape.size()) - 1);
  }
  if (to_bits > kByte) {
    shape = to.shape;
    shape.push_back(to_bits / kByte);
    return bitcast(reshape(bits, shape), to);
  }
  if (to.dtype == DType::kI1) return convert(reshape(bits, to.shape), to.dtype);
  return bitcast(reshape(bits, to.shape), {stored_as(to.dtype), to.shape});
}

Tensor sign_extended(Tensor stored, DType dtype) {
  const int unused = 8 - bit_width(dtype);
  const Tensor shifted = stored << unused;
  return shifted.builder->apply(kShiftRightArithmeticOp, {shifted, shifted.like(unused)});
}

}  // namespace superstep::narrow
