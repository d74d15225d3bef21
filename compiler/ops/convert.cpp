#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/vertex/number.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  return {{required_result(op).dtype, operands[0].shape}};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const DType to = required_result(op).dtype;
  if (x.type.dtype == to) return {x};  // movement, which keeps the payload of a NaN
  if (is_complex(x.type.dtype) || is_complex(to)) {
    // Of a complex number as a real one the real part.
    const bool has_parts = is_complex(x.type.dtype);
    if (has_parts && is_complex(to)) {
      return map_elements(operands, to, write_complex,
                          [&](std::size_t i) { return read_complex(x, element_of(x, i)); });
    }
    Op part = op;
    part.declared = {{real_of(to), x.type.shape}};
    const HostTensor real = has_parts ? kRealOp.evaluate({}, operands)[0] : x;
    HostTensor number = evaluate(part, std::span(&real, 1))[0];
    if (has_parts) return {std::move(number)};
    const std::vector<HostTensor> parts = {number, HostTensor(number.type)};
    return kComplexOp.evaluate(op, parts);
  }
  return map_elements(operands, to, write_bits, [&](std::size_t i) {
    return vertex::convert_bits(x.type.dtype, to, read_bits(x, element_of(x, i)));
  });
}

std::vector<Node> emit(const Op& op, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const DType to = required_result(op).dtype;
  return {expression.dtype(operands[0]) == to ? operands[0] : expression.convert(operands[0], to)};
}

bool is_below_byte(DType dtype) { return bit_width(dtype) < 8; }

/// The elements of a wider type are along a last dimension of a narrower one.
std::vector<TensorType> infer_bitcast(const Op& op, std::span<const TensorType> operands) {
  const TensorType& x = operands[0];
  const DType to = required_result(op).dtype;
  if (x.dtype == to) return {x};
  TensorType result{to, x.shape};
  const int from_bits = bit_width(x.dtype), to_bits = bit_width(to);
  if (std::max(from_bits, to_bits) % std::min(from_bits, to_bits) != 0) {
    malformed(op, fmt::format("{} are no whole number of {}", name_of(x.dtype), name_of(to)));
  }
  if (from_bits > to_bits) {
    result.shape.push_back(from_bits / to_bits);
  } else if (from_bits < to_bits) {
    const std::int64_t parts = to_bits / from_bits;
    if (x.shape.empty() || x.shape.back() != parts) {
      malformed(op, fmt::format("{} of {} are one {}, but the operand is {}", parts,
                                name_of(x.dtype), name_of(to), x.text()));
    }
    result.shape.pop_back();
  }
  return {std::move(result)};
}

std::vector<HostTensor> evaluate_bitcast(const Op& op, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  const DType from = result.type.dtype;
  result.type = infer_bitcast(op, std::vector{result.type})[0];
  const DType to = result.type.dtype;
  if (!is_below_byte(from) && !is_below_byte(to)) return {std::move(result)};
  // The lowest bits first.
  std::vector<bool> bits;
  for (std::size_t i = 0; i < static_cast<std::size_t>(operands[0].type.elements()); ++i) {
    const std::uint64_t element = read_bits(operands[0], i);
    for (int bit = 0; bit < bit_width(from); ++bit) bits.push_back((element >> bit & 1) != 0);
  }
  result = HostTensor(result.type);
  const auto width = static_cast<std::size_t>(bit_width(to));
  for (std::size_t i = 0; i < bits.size() / width; ++i) {
    std::uint64_t element = 0;
    for (std::size_t bit = 0; bit < width; ++bit) {
      element |= std::uint64_t{bits[i * width + bit]} << bit;
    }
    if (is_narrow_integer(to)) {
      write_int(result, i, static_cast<std::int64_t>(element));
    } else {
      write_bits(result, i, element);
    }
  }
  return {std::move(result)};
}

std::vector<Node> emit_bitcast(const Op& op, const Graph&, Expression& expression,
                               std::span<const Node> operands) {
  const DType to = required_result(op).dtype;
  return {expression.dtype(operands[0]) == to ? operands[0] : expression.bitcast(operands[0], to)};
}

/// Whether elements are put together or taken apart; words of wide ones are split later.
bool changes_width(const Op& op, const Graph& graph) {
  const int from = bit_width(graph.type(op.operands[0]).dtype);
  const int to = bit_width(graph.type(op.results[0]).dtype);
  return from != to && std::min(from, to) < 32;
}

/// From booleans or to them, which are the bits of the others, the lowest first.
Tensor bitcast_bits(Tensor x, const TensorType& to) {
  const bool makes_bits = to.dtype == DType::kI1;
  const DType number = makes_bits ? x.dtype() : to.dtype;
  const DType bits = unsigned_of_size(size_of(number));
  const Shape& shape = makes_bits ? to.shape : x.shape();
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const Tensor places = x.builder->iota({bits, shape}, last);
  if (makes_bits) {
    std::vector<std::int64_t> dimensions(shape.size() - 1);
    std::iota(dimensions.begin(), dimensions.end(), 0);
    const Tensor words = broadcast(bitcast(x, {bits, x.shape()}), shape, dimensions);
    const Tensor shifted = x.builder->apply(kShiftRightLogicalOp, {words, places});
    return convert(shifted & shifted.like(1), DType::kI1);
  }
  const Tensor shifted = x.builder->apply(kShiftLeftOp, {convert(x, bits), places});
  const Tensor words =
      reduce(shifted, x.builder->number(bits, 0), {last}, [](Tensor a, Tensor b) { return a | b; });
  return bitcast(words, to);
}

/// By shifts; to and from wide elements by way of words.
std::vector<Tensor> expand_bitcast(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  Tensor x = operands[0];
  const TensorType to = infer_bitcast(op, std::vector{x.type()})[0];
  if (x.dtype() == DType::kI1 || to.dtype == DType::kI1) return {bitcast_bits(x, to)};
  Shape words = to.shape;
  if (is_wide(to.dtype)) {
    words.push_back(2);
    Shape parts = words;
    parts.push_back(x.shape().back() / 2);
    return {bitcast(bitcast(reshape(x, parts), {DType::kU32, words}), to)};
  }
  if (is_wide(x.dtype())) {
    words.back() = 2;
    Shape parts = words;
    parts.push_back(to.shape.back() / 2);
    return {reshape(bitcast(bitcast(x, {DType::kU32, words}), {to.dtype, parts}), to.shape)};
  }
  const std::size_t from_size = size_of(x.dtype()), to_size = size_of(to.dtype);
  x = bitcast(x, {unsigned_of_size(from_size), x.shape()});
  const int bits = 8 * static_cast<int>(std::min(from_size, to_size));
  const auto last = static_cast<std::int64_t>(std::max(x.shape().size(), to.shape.size())) - 1;
  if (from_size > to_size) {
    Shape one = x.shape();
    one.push_back(1);
    std::vector<Tensor> parts;
    for (int i = 0; i < to.shape.back(); ++i) {
      parts.push_back(reshape(convert(x >> (i * bits), unsigned_of_size(to_size)), one));
    }
    return {bitcast(concatenate(parts, last), to)};
  }
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < x.shape().back(); ++i) {
    const Tensor part = convert(element_of_last(x, i), unsigned_of_size(to_size));
    parts.push_back(part << (static_cast<int>(i) * bits));
  }
  Tensor all = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) all = all | parts[i];
  return {bitcast(all, to)};
}

}  // namespace

const OpDefinition kConvertOp{
    .name = "stablehlo.convert",
    .summary = "Each element as another type; floats truncate and saturate to integers, NaN to 0.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kAnyDType}},
};
const OpDefinition kBitcastConvertOp{
    .name = "stablehlo.bitcast_convert",
    .summary =
        "The bits of each element as another type; elements of a wider one along a last dimension.",
    .infer = infer_bitcast,
    .evaluate = evaluate_bitcast,
    .lowerings = {ExpandLowering{expand_bitcast, changes_width}, ElementwiseLowering{emit_bitcast}},
    .traits = {.operands = {kAnyDType}},
};

}  // namespace superstep
