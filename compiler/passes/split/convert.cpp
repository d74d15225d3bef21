// Conversions from and to wide types.

#include "compiler/ops/op.h"
#include "compiler/passes/split/rules.h"
#include "compiler/passes/split/soft_double.h"

namespace superstep::split {
namespace {

using Number = Wide<GraphWord>;

bool is_wide_integer(DType dtype) { return dtype == DType::kI64 || dtype == DType::kU64; }

Tensor bits_as(Tensor x, DType to) {
  Op op;
  op.declared = {{to, x.shape()}};
  return x.builder->apply(kBitcastConvertOp, {x}, std::move(op));
}

/// An integer or boolean of at most 32 bits, sign- or zero-extended.
Number widened_integer(Tensor x) {
  const GraphWord low{convert(x, DType::kU32)};
  return {low, is_signed(x.dtype()) ? sign_of(low) : constant(low, 0)};
}

/// Truncated and saturated.
Number integer_of_single(Tensor x, DType to) {
  const GraphWord bits{bits_as(convert(x, DType::kF32), DType::kU32)};
  const GraphWord magnitude = bits & constant(bits, 0x7fffffff);
  const GraphWord exponent = shr(magnitude, 23), point = constant(bits, 127 + 23);
  const GraphWord mantissa = (bits & constant(bits, 0x7fffff)) | constant(bits, 0x800000);
  const Number number =
      shl(widened(mantissa), exponent - point) | widened(shr(mantissa, point - exponent));
  const bool has_sign = is_signed(to);
  const std::uint32_t bits_of_magnitude = has_sign ? 63 : 64;
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits_of_magnitude);
  const GraphBit is_large = !below(exponent, constant(bits, 127 + bits_of_magnitude));
  const Number positive = select(is_large, constant(bits, most), number);
  const Number none = constant(bits, std::uint64_t{0});
  const Number negative =
      has_sign ? select(is_large, constant(bits, ~most), negated(number)) : none;
  const Number result = select(any(sign_of(bits)), negative, positive);
  return select(below(constant(bits, 0x7f800000), magnitude), none, result);
}

/// A float of at most 32 bits from bits that were rounded for it.
Tensor narrowed_float(GraphWord single, DType to) {
  return convert(bits_as(single.tensor, DType::kF32), to);
}

Number magnitude_of(const Number& x, DType dtype) {
  return is_signed(dtype) ? with_sign(x, sign_of(x.high)) : x;
}
GraphWord sign_of(const Number& x, DType dtype) {
  return is_signed(dtype) ? sign_of(x.high) : constant(x.high, 0);
}

Parts from_integer(const Parts& x, DType from, DType to) {
  const Number number = words(x);
  if (is_wide_integer(to)) return x;
  if (to == DType::kI1) return parts(any(number));
  if (is_integer(to)) return {convert(x[0], to)};
  const Number magnitude = magnitude_of(number, from);
  const GraphWord sign = sign_of(number, from);
  if (to == DType::kF64) return parts(double_of_integer(magnitude, sign));
  const bool to_odd = to == DType::kF16;
  return {narrowed_float(single_of_integer(magnitude, sign, to_odd), to)};
}

Parts from_double(const Parts& x, DType to) {
  const Number number = words(x);
  if (to == DType::kF64) {
    return parts(select(is_nan(number), double_nan(number.low), number));
  }
  if (to == DType::kI1) return parts(!is_zero_double(number));
  if (is_integer(to)) {
    const auto width = static_cast<std::uint32_t>(8 * size_of(to));
    const Number whole =
        integer_of_double(number, is_signed(to) ? width - 1 : width, is_signed(to));
    return is_wide(to) ? parts(whole) : Parts{convert(whole.low.tensor, to)};
  }
  const bool to_odd = to == DType::kF16;
  return {narrowed_float(single_of_double(number, to_odd), to)};
}

Parts to_wide(Tensor x, DType to) {
  const bool is_from_float = is_float(x.dtype());
  if (is_wide_integer(to)) {
    return parts(is_from_float ? integer_of_single(x, to) : widened_integer(x));
  }
  if (is_from_float) {
    return parts(double_of_single(GraphWord{bits_as(convert(x, DType::kF32), DType::kU32)}));
  }
  const DType from = is_signed(x.dtype()) ? DType::kI64 : DType::kU64;
  return from_integer(parts(widened_integer(x)), from, DType::kF64);
}

}  // namespace

Parts converted(const Parts& x, DType from, DType to) {
  if (from == to && !is_float(from)) return x;
  if (is_wide_integer(from)) return from_integer(x, from, to);
  if (from == DType::kF64) return from_double(x, to);
  return is_wide(to) ? to_wide(x[0], to) : Parts{convert(x[0], to)};
}

}  // namespace superstep::split
