#include <limits>

#include "compiler/lower/elementwise.h"
#include "compiler/lower/reductions/reduce.h"

namespace superstep {
namespace {

std::uint64_t mask_of(DType dtype) { return (std::uint64_t{1} << (8 * size_of(dtype))) - 1; }

/// Bits of the lowest and highest value of a dtype: infinities for floats.
struct Bounds {
  std::uint64_t low, high;
};

Bounds bounds_of(DType dtype) {
  if (dtype == DType::kF32) return {0xff800000, 0x7f800000};
  if (dtype == DType::kF16) return {0xfc00, 0x7c00};
  if (dtype == DType::kI1) return {0, 1};
  const std::uint64_t mask = mask_of(dtype);
  if (!is_signed(dtype)) return {0, mask};
  return {(mask + 1) / 2, mask / 2};
}

}  // namespace

std::optional<std::uint64_t> identity_of(vertex::Primitive primitive, DType dtype) {
  using vertex::Primitive;
  switch (primitive) {
    case Primitive::kAdd:
      // x + -0 is x even where x is -0.
      if (dtype == DType::kF32) return 0x80000000;
      if (dtype == DType::kF16) return 0x8000;
      return 0;
    case Primitive::kMul:
      if (dtype == DType::kF32) return 0x3f800000;
      if (dtype == DType::kF16) return 0x3c00;
      return 1;
    case Primitive::kMax:
      return bounds_of(dtype).low;
    case Primitive::kMin:
      return bounds_of(dtype).high;
    case Primitive::kOr:
    case Primitive::kXor:
      return 0;
    case Primitive::kAnd:
      return dtype == DType::kI1 ? 1 : mask_of(dtype);
    default:
      return std::nullopt;
  }
}

Combine combine_with(vertex::Primitive primitive, DType dtype) {
  Combine combine;
  const vertex::Node a = combine.reduce.expression.input(0, dtype);
  const vertex::Node b = combine.reduce.expression.input(1, dtype);
  combine.reduce.outputs = {combine.reduce.expression.apply(primitive, {a, b})};
  combine.reduce.dtypes = {dtype};
  combine.key = "reduce " + expression_key(combine.reduce.expression, combine.reduce.outputs);
  combine.identity = identity_of(primitive, dtype);
  return combine;
}

}  // namespace superstep
