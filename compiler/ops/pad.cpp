#include <array>
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

// As long as any dimension is: sums and products of such amounts stay far from overflow.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

struct Padding {
  Indices low, high, interior;
};

Padding padding_of(const Op& op, std::size_t rank) {
  return {index_list(op, "edge_padding_low", rank), index_list(op, "edge_padding_high", rank),
          index_list(op, "interior_padding", rank)};
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& operand = operands[0];
  if (operands[1] != TensorType{operand.dtype, {}}) {
    malformed(op, fmt::format("the padding value is {}, expected {}", operands[1].text(),
                              TensorType{operand.dtype, {}}.text()));
  }
  const Padding padding = padding_of(op, operand.shape.size());
  TensorType result{operand.dtype, {}};
  for (std::size_t i = 0; i < operand.shape.size(); ++i) {
    const std::int64_t size = operand.shape[i];
    if (padding.interior[i] < 0) malformed(op, "interior_padding must not be negative");
    const std::int64_t gaps = std::max<std::int64_t>(size - 1, 0);
    if (std::max(padding.low[i], padding.high[i]) > kMaxSize ||
        std::min(padding.low[i], padding.high[i]) < -kMaxSize ||
        padding.interior[i] > kMaxSize / std::max<std::int64_t>(gaps, 1)) {
      malformed(op, fmt::format("pads dimension {} by more than any tensor holds", i));
    }
    const std::int64_t padded =
        padding.low[i] + size + gaps * padding.interior[i] + padding.high[i];
    if (padded < 0) malformed(op, fmt::format("takes more than all of dimension {}", i));
    result.shape.push_back(padded);
  }
  return {std::move(result)};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const Shape& shape = x.type.shape;
  const Padding padding = padding_of(op, shape.size());
  const std::vector<TensorType> types = {x.type, operands[1].type};
  HostTensor result(infer(op, types)[0]);
  const auto elements = static_cast<std::size_t>(result.type.elements());
  for (std::size_t i = 0; i < elements; ++i) copy_element(result, i, operands[1], 0);
  if (x.type.elements() == 0) return {std::move(result)};
  const Indices from = row_major_strides(shape);
  const Indices to = row_major_strides(result.type.shape);
  Indices index(shape.size());
  do {
    Indices target(index.size());
    bool inside = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      target[i] = padding.low[i] + index[i] * (padding.interior[i] + 1);
      inside = inside && target[i] >= 0 && target[i] < result.type.shape[i];
    }
    if (inside) copy_element(result, element_at(target, to), x, element_at(index, from));
  } while (next_index(index, shape));
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  const Shape& shape = graph.type(op.operands[0]).shape;
  const Shape& result = graph.type(op.results[0]).shape;
  const Padding padding = padding_of(op, shape.size());
  const Indices to = row_major_strides(result);
  const Indices from = row_major_strides(shape);

  std::vector<StridedBox> all = single_box({1, result, Indices(result.size(), 0), to});
  StridedBox inner{0, {}, from, {}, 0, 0};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t step = padding.interior[i] + 1;
    const std::int64_t low = padding.low[i];
    // Elements first … last - 1 of the operand land inside the result.
    const std::int64_t first = low < 0 ? (-low + step - 1) / step : 0;
    const std::int64_t last =
        result[i] <= low ? 0 : std::min(shape[i], (result[i] - low + step - 1) / step);
    inner.sizes.push_back(std::max<std::int64_t>(last - first, 0));
    inner.to_strides.push_back(to[i] * step);
    inner.from_offset += first * from[i];
    inner.to_offset += (low + first * step) * to[i];
  }
  for (const StridedBox& box : single_box(inner)) all.push_back(box);
  return all;
}

constexpr std::array kKeywords = {
    Keyword{"low", Keyword::Value::kIntegers, "edge_padding_low"},
    Keyword{"high", Keyword::Value::kIntegers, "edge_padding_high"},
    Keyword{"interior", Keyword::Value::kIntegers, "interior_padding"}};

}  // namespace

const OpDefinition kPadOp{
    .name = "stablehlo.pad",
    .summary =
        "A tensor with values added around and between its elements, or removed at its edges.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType, kAnyDType}},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
