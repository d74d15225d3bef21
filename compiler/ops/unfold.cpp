#include "compiler/ops/unfold.h"

#include <fmt/format.h>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

std::vector<Unfolded> windows_of(const Op& op, std::size_t rank) {
  const Indices dimensions = dimension_list(op, "dimensions", rank);
  const Indices sizes = index_list(op, "sizes", dimensions.size());
  const Indices strides = index_list(op, "strides", dimensions.size());
  const Indices dilations = index_list(op, "dilations", dimensions.size());
  std::vector<Unfolded> windows;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    windows.push_back({dimensions[i], sizes[i], strides[i], dilations[i]});
  }
  return windows;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  TensorType result = operands[0];
  for (const Unfolded& window : windows_of(op, result.shape.size())) {
    std::int64_t& size = result.shape[at(window.dimension)];
    const std::int64_t span = (window.size - 1) * window.dilation + 1;
    if (window.size < 1 || window.stride < 1 || window.dilation < 1 || span > size) {
      malformed(op, fmt::format("windows of {} elements, {} apart, do not slide by {} along "
                                "dimension {} of {}",
                                window.size, window.dilation, window.stride, window.dimension,
                                operands[0].text()));
    }
    size = (size - span) / window.stride + 1;
    result.shape.push_back(window.size);
  }
  return {std::move(result)};
}

/// From the operand to the result, of all dimensions of the result.
StridedBox box_of(const Op& op, const TensorType& operand, const Shape& result) {
  StridedBox box{0, result, row_major_strides(operand.shape), row_major_strides(result), 0, 0};
  for (const Unfolded& window : windows_of(op, operand.shape.size())) {
    const std::size_t d = at(window.dimension);
    const std::int64_t stride = box.from_strides[d];
    // Else of any size, and never taken.
    box.from_strides.push_back(window.size > 1 ? stride * window.dilation : stride);
    if (result[d] > 1) box.from_strides[d] = stride * window.stride;
  }
  return box;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  HostTensor result(infer(op, types)[0]);
  if (result.type.elements() == 0) return {std::move(result)};
  const StridedBox box = box_of(op, types[0], result.type.shape);
  Indices index(result.type.shape.size());
  do {
    copy_element(result, element_at(index, box.to_strides), operands[0],
                 element_at(index, box.from_strides));
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  return single_box(box_of(op, graph.type(op.operands[0]), graph.type(op.results[0]).shape));
}

}  // namespace

Tensor unfold(Tensor x, const std::vector<Unfolded>& windows) {
  Indices dimensions, sizes, strides, dilations;
  for (const Unfolded& window : windows) {
    dimensions.push_back(window.dimension);
    sizes.push_back(window.size);
    strides.push_back(window.stride);
    dilations.push_back(window.dilation);
  }
  Op op;
  op.attributes = {{"dimensions", std::move(dimensions)},
                   {"sizes", std::move(sizes)},
                   {"strides", std::move(strides)},
                   {"dilations", std::move(dilations)}};
  return x.builder->apply(kUnfoldOp, {x}, std::move(op));
}

const OpDefinition kUnfoldOp{
    .name = "superstep.unfold",
    .summary = "Windows that slide along dimensions of a tensor, as dimensions of their own.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType}},
};

}  // namespace superstep
