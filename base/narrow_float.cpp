#include "base/narrow_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace superstep {

// Facts: openxla/stablehlo docs/spec.md and rfcs/20240808-f4E2M1FN_f6E2M3FN_f6E3M2FN_f8E8M0FNU.md;
// how values are rounded: ml_dtypes, which JAX's results agree with.
NarrowFloat narrow_float(DType dtype) {
  using Kind = NarrowFloat::Kind;
  switch (dtype) {
    case DType::kF4E2M1FN:
      return {1, 1, Kind::kNumbers, 4};
    case DType::kF6E2M3FN:
      return {3, 1, Kind::kNumbers, 6};
    case DType::kF6E3M2FN:
      return {2, 3, Kind::kNumbers, 6};
    case DType::kF8E3M4:
      return {4, 3, Kind::kIeee};
    case DType::kF8E4M3:
      return {3, 7, Kind::kIeee};
    case DType::kF8E4M3B11FNUZ:
      return {3, 11, Kind::kUnsigned};
    case DType::kF8E4M3FN:
      return {3, 7, Kind::kFinite};
    case DType::kF8E4M3FNUZ:
      return {3, 8, Kind::kUnsigned};
    case DType::kF8E5M2:
      return {2, 15, Kind::kIeee};
    case DType::kF8E5M2FNUZ:
      return {2, 16, Kind::kUnsigned};
    case DType::kF8E8M0FNU:
      return {0, 127, Kind::kPower};
    default:
      fail_check("dtype", __FILE__, __LINE__, "not a float of at most 8 bits");
  }
}

double number_of(const NarrowFloat& format, std::uint32_t bits) {
  const std::uint32_t sign = bits & format.sign_bit();
  const std::uint32_t magnitude = bits & (format.codes() - 1) & ~format.sign_bit();
  double value = 0;
  if (format.kind == NarrowFloat::Kind::kPower) {
    value = bits == format.nan() ? std::numeric_limits<double>::quiet_NaN()
                                 : std::ldexp(1.0, static_cast<int>(magnitude) - format.bias);
  } else if (format.kind == NarrowFloat::Kind::kUnsigned && bits == format.nan()) {
    return std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude >= format.infinity()) {
    const bool is_infinite =
        format.kind == NarrowFloat::Kind::kIeee && magnitude == format.infinity();
    value = is_infinite ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint32_t one = 1U << format.mantissa_bits;
    const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    const std::uint32_t mantissa = magnitude & (one - 1);
    value = std::ldexp(static_cast<double>(exponent == 0 ? mantissa : mantissa + one),
                       std::max(exponent, 1) - format.bias - format.mantissa_bits);
  }
  return sign != 0 ? -value : value;
}

std::uint32_t code_of(const NarrowFloat& format, float value) {
  if (format.kind == NarrowFloat::Kind::kPower) {
    if (!(value > 0) || std::isinf(value)) return format.nan();
    // JAX's rule for what f32 has no normal numbers for.
    if (value < std::numeric_limits<float>::min()) return value > std::ldexp(1.0F, -127) ? 1 : 0;
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);  // 0.5 to 1
    if (fraction >= 0.75F) ++exponent;
    return static_cast<std::uint32_t>(std::clamp(exponent - 1 + format.bias, 0, 0xff));
  }
  if (std::isnan(value)) return format.nan();
  const std::uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  std::uint32_t magnitude = format.infinity();
  if (value == 0) {
    magnitude = 0;
  } else if (!std::isinf(value)) {
    int exponent = 0;
    std::frexp(value, &exponent);
    // One step of the result; scaling by it is exact, so only nearbyint rounds.
    const int least = 1 - format.bias - format.mantissa_bits;
    const int step = std::max(exponent - 1 - format.mantissa_bits, least);
    const double steps = std::nearbyint(std::ldexp(std::fabs(static_cast<double>(value)), -step));
    // A carry out of the mantissa runs into the exponent field, as it should.
    const double code =
        steps + static_cast<double>(step - least) * static_cast<double>(1U << format.mantissa_bits);
    if (code < format.infinity()) magnitude = static_cast<std::uint32_t>(code);
  }
  if (magnitude >= format.infinity() && format.kind != NarrowFloat::Kind::kIeee) {
    if (format.kind != NarrowFloat::Kind::kNumbers) return format.nan();
    magnitude = format.infinity() - 1;
  }
  const bool has_one_zero = format.kind == NarrowFloat::Kind::kUnsigned;
  return magnitude == 0 && has_one_zero ? 0 : sign | magnitude;
}

}  // namespace superstep
