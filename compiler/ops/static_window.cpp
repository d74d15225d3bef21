#include "compiler/ops/static_window.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

const Indices& start_of(const Op& op) { return attribute<Indices>(op, "start_indices"); }

std::vector<TensorType> infer(const Op&, std::span<const TensorType> operands) {
  return {operands[0]};
}

/// The window, and what is around it: for each dimension, what comes before and behind it there, as
/// wide as the window in the dimensions before.
std::vector<StridedBox> boxes_of(const Shape& shape, const Shape& window, const Indices& start) {
  const Indices to = row_major_strides(shape);
  std::vector<StridedBox> boxes;
  Indices first(shape.size(), 0);
  Shape sizes = shape;
  const auto add = [&](std::size_t d, std::int64_t begin, std::int64_t end) {
    first[d] = begin;
    sizes[d] = end - begin;
    const auto offset = static_cast<std::int64_t>(element_at(first, to));
    for (StridedBox& box : single_box({0, sizes, to, to, offset, offset})) {
      boxes.push_back(std::move(box));
    }
  };
  for (std::size_t d = 0; d < shape.size(); ++d) {
    add(d, 0, start[d]);
    add(d, start[d] + window[d], shape[d]);
    first[d] = start[d];
    sizes[d] = window[d];
  }
  const auto offset = static_cast<std::int64_t>(element_at(start, to));
  for (StridedBox& box : single_box({1, window, row_major_strides(window), to, 0, offset})) {
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  return boxes_of(graph.type(op.operands[0]).shape, graph.type(op.operands[1]).shape, start_of(op));
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  for_each_of_window(
      result.type.shape, operands[1].type.shape, start_of(op),
      [&](std::size_t to, std::size_t from) { copy_element(result, to, operands[1], from); });
  return {std::move(result)};
}

}  // namespace

Tensor with_window(Tensor x, const std::vector<std::int64_t>& start, Tensor window) {
  Op replace;
  replace.attributes["start_indices"] = start;
  return x.builder->apply(kReplaceWindowOp, {x, window}, std::move(replace));
}

const OpDefinition kReplaceWindowOp{
    .name = "superstep.replace_window",
    .summary = "A tensor with a box of it replaced.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .updates_operands = true},
};

}  // namespace superstep
