// Ops on the bits of integers, and logic of booleans.

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using vertex::Primitive;

std::int64_t width_of(DType dtype) { return bit_width(dtype); }

template <std::int64_t (*kFunction)(DType, std::int64_t, std::int64_t)>
std::vector<HostTensor> evaluate_bits(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& a = operands[0];
  const HostTensor& b = operands.back();
  const DType dtype = a.type.dtype;
  return map_elements(operands, dtype, write_int, [&](std::size_t i) {
    return kFunction(dtype, read_int(a, element_of(a, i)), read_int(b, element_of(b, i)));
  });
}

std::int64_t logical_and(DType, std::int64_t a, std::int64_t b) { return a & b; }
std::int64_t logical_or(DType, std::int64_t a, std::int64_t b) { return a | b; }
std::int64_t logical_xor(DType, std::int64_t a, std::int64_t b) { return a ^ b; }
std::int64_t logical_not(DType, std::int64_t a, std::int64_t) { return ~a; }

// An amount that is negative or not below the width shifts every bit out, as in XLA.
bool shifts_all(DType dtype, std::int64_t amount) {
  return amount < 0 || amount >= width_of(dtype);
}

std::int64_t shift_left(DType dtype, std::int64_t a, std::int64_t b) {
  return shifts_all(dtype, b) ? 0 : a << b;
}
std::int64_t shift_right_logical(DType dtype, std::int64_t a, std::int64_t b) {
  if (shifts_all(dtype, b)) return 0;
  const std::int64_t above = 64 - width_of(dtype);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << above >> above >> b);
}
std::int64_t shift_right_arithmetic(DType dtype, std::int64_t a, std::int64_t b) {
  const bool negative = ((a >> (width_of(dtype) - 1)) & 1) != 0;
  if (shifts_all(dtype, b)) return negative ? -1 : 0;
  const std::int64_t above = 64 - width_of(dtype);
  return (a << above >> above) >> b;
}
std::int64_t count_leading_zeros(DType dtype, std::int64_t a, std::int64_t) {
  std::int64_t zeros = 0;
  while (zeros < width_of(dtype) && ((a >> (width_of(dtype) - 1 - zeros)) & 1) == 0) ++zeros;
  return zeros;
}
std::int64_t popcnt(DType dtype, std::int64_t a, std::int64_t) {
  std::int64_t ones = 0;
  for (std::int64_t bit = 0; bit < width_of(dtype); ++bit) ones += (a >> bit) & 1;
  return ones;
}

}  // namespace

const OpDefinition kAndOp{
    .name = "stablehlo.and",
    .summary = "AND of two booleans, or of the bits of two integers.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<logical_and>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kAnd>}},
    .traits = {.operands = {kIntegers | kBooleans, kIntegers | kBooleans}},
};
const OpDefinition kOrOp{
    .name = "stablehlo.or",
    .summary = "OR of two booleans, or of the bits of two integers.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<logical_or>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kOr>}},
    .traits = {.operands = {kIntegers | kBooleans, kIntegers | kBooleans}},
};
const OpDefinition kXorOp{
    .name = "stablehlo.xor",
    .summary = "Exclusive OR of two booleans, or of the bits of two integers.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<logical_xor>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kXor>}},
    .traits = {.operands = {kIntegers | kBooleans, kIntegers | kBooleans}},
};
const OpDefinition kNotOp{
    .name = "stablehlo.not",
    .summary = "NOT of a boolean, or of the bits of an integer.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<logical_not>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kNot>}},
    .traits = {.operands = {kIntegers | kBooleans}},
};
const OpDefinition kShiftLeftOp{
    .name = "stablehlo.shift_left",
    .summary = "Bits of the first element moved up by the second; 0 from the width on.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<shift_left>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kShl>}},
    .traits = {.operands = {kIntegers, kIntegers}},
};
const OpDefinition kShiftRightLogicalOp{
    .name = "stablehlo.shift_right_logical",
    .summary = "Bits of the first element moved down by the second, zeros follow.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<shift_right_logical>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kShrLogical>}},
    .traits = {.operands = {kIntegers, kIntegers}},
};
const OpDefinition kShiftRightArithmeticOp{
    .name = "stablehlo.shift_right_arithmetic",
    .summary = "Bits of the first element moved down by the second, the highest bit follows.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<shift_right_arithmetic>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kShrArithmetic>}},
    .traits = {.operands = {kIntegers, kIntegers}},
};
const OpDefinition kCountLeadingZerosOp{
    .name = "stablehlo.count_leading_zeros",
    .summary = "Number of zero bits above the highest one of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<count_leading_zeros>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kClz>}},
    .traits = {.operands = {kIntegers}},
};
const OpDefinition kPopcntOp{
    .name = "stablehlo.popcnt",
    .summary = "Number of one bits of each element.",
    .infer = infer_same_type,
    .evaluate = evaluate_bits<popcnt>,
    .lowerings = {ElementwiseLowering{emit_primitive<Primitive::kPopcount>}},
    .traits = {.operands = {kIntegers}},
};

}  // namespace superstep
