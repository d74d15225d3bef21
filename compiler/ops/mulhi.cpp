#include "compiler/ops/elementwise.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

__extension__ using Wide = __int128;
__extension__ using Bits = unsigned __int128;

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  const HostTensor &a = operands[0], &b = operands[1];
  const DType dtype = a.type.dtype;
  const auto number = [dtype](const HostTensor& tensor, std::size_t i) -> Wide {
    const std::int64_t value = read_int(tensor, i);
    if (is_signed(dtype)) return value;
    return static_cast<Wide>(static_cast<std::uint64_t>(value));
  };
  return map_elements(operands, dtype, write_int, [&](std::size_t i) {
    // Of unsigned numbers the product may reach the sign, whose copies are cut off then.
    const Bits product = static_cast<Bits>(number(a, element_of(a, i))) *
                         static_cast<Bits>(number(b, element_of(b, i)));
    return static_cast<std::int64_t>(static_cast<Wide>(product) >> bit_width(dtype));
  });
}

Tensor shifted(Tensor x, int bits) { return x >> bits; }

/// The upper word of a product of two ui64, by halves.
Tensor upper_word(Tensor a, Tensor b) {
  constexpr int kHalf = 32;
  const auto low = [](Tensor x) { return shifted(x << kHalf, kHalf); };
  const Tensor a0 = low(a), a1 = shifted(a, kHalf), b0 = low(b), b1 = shifted(b, kHalf);
  const Tensor cross = a1 * b0, other = a0 * b1;
  const Tensor carries = shifted(a0 * b0, kHalf) + low(cross) + low(other);
  return a1 * b1 + shifted(cross, kHalf) + shifted(other, kHalf) + shifted(carries, kHalf);
}

std::vector<Tensor> expand(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  const Tensor a = operands[0], b = operands[1];
  const DType dtype = a.dtype();
  const int bits = bit_width(dtype);
  if (bits < 64) {
    const bool is_word = bits == 32;
    const DType wide = is_signed(dtype) ? (is_word ? DType::kI64 : DType::kI32)
                                        : (is_word ? DType::kU64 : DType::kU32);
    return {convert(shifted(convert(a, wide) * convert(b, wide), bits), dtype)};
  }
  if (!is_signed(dtype)) return {upper_word(a, b)};
  // A negative number is 2^64 more as an unsigned one.
  const auto as_unsigned = [](Tensor x) { return bitcast(x, {DType::kU64, x.shape()}); };
  const Tensor upper = bitcast(upper_word(as_unsigned(a), as_unsigned(b)), a.type());
  const Tensor none = a.like(0);
  return {upper - select(a < 0.0, b, none) - select(b < 0.0, a, none)};
}

}  // namespace

const OpDefinition kMulhiOp{
    .name = "chlo.mulhi",
    .summary = "The upper half of the bits of a product of two integers.",
    .infer = infer_same_type,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kIntegers, kIntegers}},
};

}  // namespace superstep
