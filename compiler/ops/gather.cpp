#include <algorithm>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/start_indices.h"
#include "compiler/ops/take.h"
#include "compiler/ops/verify.h"
#include "compiler/ops/windows.h"

namespace superstep {
namespace {

constexpr StartIndices::Names kNames{"start_index_map", "operand_batching_dims",
                                     "start_indices_batching_dims"};

/// What the attributes of a gather say of its dimensions.
struct Dimensions {
  StartIndices starts;
  Shape sizes;
  Indices offset;  ///< of the result: those of windows
  Indices window;  ///< of the operand: those that the result has

  Dimensions(const Op& op, const Shape& operand, const Shape& indices)
      : starts(op, kNames, operand, indices), sizes(index_list(op, "slice_sizes", operand.size())) {
    const Indices collapsed = dimension_list(op, "collapsed_slice_dims", operand.size());
    require_sorted(op, "collapsed_slice_dims", collapsed);
    for (std::size_t i = 0; i < operand.size(); ++i) {
      const auto d = static_cast<std::int64_t>(i);
      const bool is_left_out = contains(collapsed, d) || contains(starts.operand_batching(), d);
      if (sizes[i] < 0 || sizes[i] > operand[i] || (is_left_out && sizes[i] > 1)) {
        malformed(op, fmt::format("the slice size of dimension {} is {}, expected 0 to {}", d,
                                  sizes[i], is_left_out ? 1 : operand[i]));
      }
      if (contains(collapsed, d) && contains(starts.operand_batching(), d)) {
        malformed(op, fmt::format("dimension {} is collapsed and batching", d));
      }
      if (!is_left_out) window.push_back(d);
    }
    offset = dimension_list(op, "offset_dims", window.size() + starts.dimensions().size());
    require_sorted(op, "offset_dims", offset);
    if (offset.size() != window.size()) {
      malformed(op, fmt::format("offset_dims has {} entries, but windows have {} dimensions",
                                offset.size(), window.size()));
    }
  }

  /// Dimensions of the result, each as one of the operand or, with its rank added, of the indices.
  [[nodiscard]] Indices result() const { return starts.names(offset, window); }
  [[nodiscard]] Shape shape() const {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    Shape shape;
    for (const std::int64_t name : result()) {
      shape.push_back(name < rank ? sizes[static_cast<std::size_t>(name)]
                                  : starts.size(name - rank));
    }
    return shape;
  }
};

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  return {{operands[0].dtype, Dimensions(op, operands[0].shape, operands[1].shape).shape()}};
}

/// Start indices are clamped, so that windows are inside.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const Shape& shape = x.type.shape;
  const Dimensions dimensions(op, shape, operands[1].type.shape);
  HostTensor result(TensorType{x.type.dtype, dimensions.shape()});
  if (result.type.elements() == 0) return {std::move(result)};
  const Indices strides = row_major_strides(shape), to = row_major_strides(result.type.shape);
  const Indices names = dimensions.result();
  Indices index(names.size());
  do {
    auto [at, within] = dimensions.starts.element(operands[1], names, index);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      at[d] = std::clamp<std::int64_t>(at[d], 0, shape[d] - dimensions.sizes[d]) + within[d];
    }
    copy_element(result, element_at(index, to), x, element_at(at, strides));
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

/// The first elements of dimensions of which windows have a part that is always the same.
Tensor without_unused(Tensor x, const Dimensions& dimensions) {
  Shape used = x.shape();
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    if (contains(dimensions.starts.map(), d)) continue;
    if (contains(dimensions.starts.operand_batching(), d)) continue;
    used[i] = dimensions.sizes[i];
  }
  return window(x, Indices(used.size(), 0), used);
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Dimensions dimensions(op, operands[0].shape(), operands[1].shape());
  const TensorType result{operands[0].dtype(), dimensions.shape()};
  if (result.elements() == 0) return {builder.constant(HostTensor(result))};
  const Tensor x = without_unused(operands[0], dimensions);
  const Windows windows(x.shape(), dimensions.sizes, dimensions.starts.operand_batching());
  std::map<std::int64_t, Tensor> starts;
  for (const auto& [d, start] : dimensions.starts.starts(operands[1])) {
    starts.emplace(d, clamped_start(start, windows.last_start(d)));
  }
  Op take;
  take.attributes = table_attributes(windows.table(), windows.window());
  const Tensor offsets = windows.offsets(builder, dimensions.starts.places(), starts);
  const Tensor taken = builder.apply(kTakeOp, {x, offsets}, std::move(take));
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const std::int64_t d : dimensions.starts.ordered()) {
    places.emplace_back(rank + d, dimensions.starts.size(d));
  }
  return {windows.from_native(taken, places, dimensions.result())};
}

}  // namespace

const OpDefinition kGatherOp{
    .name = "stablehlo.gather",
    .summary = "Boxes of a tensor that begin where vectors of indices say.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType, kIntegers}},
    .attributes =
        "dimension_numbers offset_dims collapsed_slice_dims operand_batching_dims "
        "start_indices_batching_dims start_index_map index_vector_dim slice_sizes "
        "indices_are_sorted",
};

}  // namespace superstep
