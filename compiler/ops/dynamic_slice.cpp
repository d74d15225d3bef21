#include <array>
#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/static_window.h"
#include "compiler/ops/start_indices.h"
#include "compiler/ops/take.h"
#include "compiler/ops/verify.h"
#include "compiler/ops/windows.h"

namespace superstep {
namespace {

/// A start index for each dimension, scalars of one type, from operand `first` on.
void check_starts(const Op& op, std::span<const TensorType> operands, std::size_t first) {
  const std::size_t rank = operands[0].shape.size();
  if (operands.size() != first + rank) {
    malformed(op, fmt::format("has {} start indices, expected {}", operands.size() - first, rank));
  }
  for (const TensorType& start : operands.subspan(first)) {
    if (!start.shape.empty() || start != operands[first]) {
      malformed(op, fmt::format("a start index is {}, expected {}", start.text(),
                                TensorType{operands[first].dtype, {}}.text()));
    }
  }
}

void check_sizes(const Op& op, const Shape& sizes, const TensorType& operand) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 0 && sizes[i] <= operand.shape[i]) continue;
    malformed(op, fmt::format("the size of dimension {} is {}, but the operand is {}", i, sizes[i],
                              operand.text()));
  }
}

/// Start indices, each the nearest with which the window is inside.
Indices clamped_starts(std::span<const HostTensor> starts, const Shape& shape, const Shape& sizes) {
  Indices clamped;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    clamped.push_back(std::clamp<std::int64_t>(read_index(starts[i], 0), 0, shape[i] - sizes[i]));
  }
  return clamped;
}

Tensor offset_of(GraphBuilder& builder, const Windows& windows, std::span<const Tensor> starts) {
  std::map<std::int64_t, Tensor> clamped;
  for (const std::int64_t d : windows.table().indexed) {
    const Tensor start = starts[static_cast<std::size_t>(d)];
    clamped.emplace(d, reshape(clamped_start(start, windows.last_start(d)), {1}));
  }
  return windows.offsets(builder, {1}, clamped);
}

std::vector<TensorType> infer_slice(const Op& op, std::span<const TensorType> operands) {
  const TensorType& operand = operands[0];
  check_starts(op, operands, 1);
  const Indices& sizes = index_list(op, "slice_sizes", operand.shape.size());
  check_sizes(op, sizes, operand);
  return {{operand.dtype, sizes}};
}

std::vector<HostTensor> evaluate_slice(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const Indices& sizes = attribute<Indices>(op, "slice_sizes");
  HostTensor result(TensorType{x.type.dtype, sizes});
  const Indices start = clamped_starts(operands.subspan(1), x.type.shape, sizes);
  for_each_of_window(x.type.shape, sizes, start,
                     [&](std::size_t from, std::size_t to) { copy_element(result, to, x, from); });
  return {std::move(result)};
}

std::vector<Tensor> expand_slice(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  const Indices& sizes = attribute<Indices>(op, "slice_sizes");
  const TensorType result{x.dtype(), sizes};
  if (result.elements() == 0) return {builder.constant(HostTensor(result))};
  const Windows windows(x.shape(), sizes, {});
  if (windows.table().indexed.empty()) return {x};
  Op take;
  take.attributes = table_attributes(windows.table(), windows.window());
  const Tensor offset = offset_of(builder, windows, operands.subspan(1));
  const Tensor taken = builder.apply(kTakeOp, {x, offset}, std::move(take));
  return {windows.from_native(taken, {}, all_dimensions(sizes.size()))};
}

std::vector<TensorType> infer_update(const Op& op, std::span<const TensorType> operands) {
  const TensorType &operand = operands[0], &update = operands[1];
  check_starts(op, operands, 2);
  if (update.dtype != operand.dtype || update.shape.size() != operand.shape.size()) {
    malformed(
        op, fmt::format("the update is {}, but the operand is {}", update.text(), operand.text()));
  }
  check_sizes(op, update.shape, operand);
  return {operand};
}

std::vector<HostTensor> evaluate_update(const Op&, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  const Shape& sizes = operands[1].type.shape;
  const Indices start = clamped_starts(operands.subspan(2), result.type.shape, sizes);
  for_each_of_window(result.type.shape, sizes, start, [&](std::size_t to, std::size_t from) {
    copy_element(result, to, operands[1], from);
  });
  return {std::move(result)};
}

std::vector<Tensor> expand_update(GraphBuilder& builder, const Op& op,
                                  std::span<const Tensor> operands) {
  const Tensor x = operands[0], update = operands[1];
  if (update.type().elements() == 0) return {x};
  const Windows windows(x.shape(), update.shape(), {});
  if (windows.table().indexed.empty()) return {update};
  Op put;
  put.attributes = table_attributes(windows.table(), windows.window());
  put.attributes["unique_indices"] = true;
  Graph& region = put.regions.emplace_back();
  region.add_argument({x.dtype(), {}}, {});
  region.set_results({region.add_argument({x.dtype(), {}}, {})});
  put.location = op.location;
  const Tensor offset = offset_of(builder, windows, operands.subspan(2));
  const Tensor native = windows.to_native(update, all_dimensions(x.shape().size()), {});
  return {builder.apply(kPutOp, {x, offset, native}, std::move(put))};
}

Indices static_starts(const Graph& graph, std::span<const Tensor> starts, const Shape& shape,
                      const Shape& sizes) {
  std::vector<HostTensor> values;
  for (const Tensor start : starts) values.push_back(*constant_value(graph, start.id));
  return clamped_starts(values, shape, sizes);
}

template <std::size_t kFirstStart>
bool has_static_starts(const Op& op, const Graph& graph) {
  return are_constant(graph, std::span(op.operands).subspan(kFirstStart));
}

std::vector<Tensor> expand_static_slice(GraphBuilder& builder, const Op& op,
                                        std::span<const Tensor> operands) {
  const Indices& sizes = attribute<Indices>(op, "slice_sizes");
  const Tensor x = operands[0];
  return {window(x, static_starts(builder.graph(), operands.subspan(1), x.shape(), sizes), sizes)};
}

std::vector<Tensor> expand_static_update(GraphBuilder& builder, const Op&,
                                         std::span<const Tensor> operands) {
  const Tensor x = operands[0], update = operands[1];
  const Indices start =
      static_starts(builder.graph(), operands.subspan(2), x.shape(), update.shape());
  return {with_window(x, start, update)};
}

constexpr std::array kKeywords = {Keyword{"sizes", Keyword::Value::kIntegers, "slice_sizes"}};

}  // namespace

const OpDefinition kDynamicSliceOp{
    .name = "stablehlo.dynamic_slice",
    .summary = "The elements of a box of a tensor that begins where operands say.",
    .infer = infer_slice,
    .evaluate = evaluate_slice,
    .lowerings = {ExpandLowering{expand_static_slice, has_static_starts<1>},
                  ExpandLowering{expand_slice}},
    .traits = {.operands = OperandTypes{kAnyDType}.then_any_number_of(kIntegers)},
    .syntax = {.keywords = kKeywords},
};

const OpDefinition kDynamicUpdateSliceOp{
    .name = "stablehlo.dynamic_update_slice",
    .summary = "A tensor with a box of it replaced, which begins where operands say.",
    .infer = infer_update,
    .evaluate = evaluate_update,
    .lowerings = {ExpandLowering{expand_static_update, has_static_starts<2>},
                  ExpandLowering{expand_update}},
    .traits = {.operands = OperandTypes{kAnyDType, kAnyDType}.then_any_number_of(kIntegers)},
};

}  // namespace superstep
