#include <algorithm>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/start_indices.h"
#include "compiler/ops/static_window.h"
#include "compiler/ops/take.h"
#include "compiler/ops/verify.h"
#include "compiler/ops/windows.h"

namespace superstep {
namespace {

constexpr StartIndices::Names kNames{"scatter_dims_to_operand_dims", "input_batching_dims",
                                     "scatter_indices_batching_dims"};

/// What the attributes of a scatter say of its dimensions.
struct Dimensions {
  StartIndices starts;
  Indices update;  ///< of updates: those of windows
  Indices window;  ///< of operands: those that updates have
  Shape sizes;     ///< of windows, by dimension of operands

  Dimensions(const Op& op, const Shape& operand, const Shape& indices, const Shape& updates)
      : starts(op, kNames, operand, indices),
        update(dimension_list(op, "update_window_dims", updates.size())),
        sizes(operand.size(), 1) {
    const Indices inserted = dimension_list(op, "inserted_window_dims", operand.size());
    require_sorted(op, "update_window_dims", update);
    require_sorted(op, "inserted_window_dims", inserted);
    for (std::size_t i = 0; i < operand.size(); ++i) {
      const auto d = static_cast<std::int64_t>(i);
      const bool is_batching = contains(starts.operand_batching(), d);
      if (is_batching && contains(inserted, d)) {
        malformed(op, fmt::format("dimension {} is inserted and batching", d));
      }
      if (!is_batching && !contains(inserted, d)) window.push_back(d);
    }
    if (update.size() != window.size() ||
        updates.size() != window.size() + starts.dimensions().size()) {
      malformed(op, fmt::format("updates have {} dimensions, {} of them of windows; expected {} "
                                "and {}",
                                updates.size(), update.size(),
                                window.size() + starts.dimensions().size(), window.size()));
    }
    for (std::size_t i = 0; i < window.size(); ++i) {
      const auto d = static_cast<std::size_t>(window[i]);
      sizes[d] = updates[static_cast<std::size_t>(update[i])];
      if (sizes[d] > operand[d]) {
        malformed(op, fmt::format("windows have {} elements in dimension {}, but there are {}",
                                  sizes[d], d, operand[d]));
      }
    }
    const Indices names = updates_by_name();
    const auto rank = static_cast<std::int64_t>(operand.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] < rank || updates[i] == starts.size(names[i] - rank)) continue;
      malformed(op, fmt::format("dimension {} of the updates has {} elements, but the indices have "
                                "{}",
                                i, updates[i], starts.size(names[i] - rank)));
    }
  }

  /// Dimensions of updates, each as one of operands or, with their rank added, of the indices.
  [[nodiscard]] Indices updates_by_name() const { return starts.names(update, window); }
};

Dimensions dimensions_of(const Op& op, std::span<const TensorType> operands) {
  const std::size_t count = operands.size() / 2;
  return {op, operands[0].shape, operands[count].shape, operands[count + 1].shape};
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands.size() % 2 == 0) {
    malformed(op, fmt::format("has {} operands, expected inputs, indices and as many updates",
                              operands.size()));
  }
  const std::size_t count = operands.size() / 2;
  const TensorType& indices = operands[count];
  if (count == 0) malformed(op, "has no inputs");
  require_dtype(op, indices.dtype, kIntegers);
  std::vector<TensorType> results, scalars;
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType &input = operands[i], &updates = operands[count + 1 + i];
    if (input.shape != operands[0].shape || updates.shape != operands[count + 1].shape) {
      malformed(op, "the inputs or the updates have different shapes");
    }
    if (input.dtype != updates.dtype) {
      malformed(
          op, fmt::format("the updates are {}, but the input is {}", updates.text(), input.text()));
    }
    results.push_back(input);
    scalars.push_back({input.dtype, {}});
  }
  (void)dimensions_of(op, operands);
  check_scalar_region(op, scalars);
  return results;
}

/// Updates are combined in ascending order. A window that is not wholly inside is dropped, as JAX
/// has it; by StableHLO's own text the elements that are inside would count.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::size_t count = operands.size() / 2;
  std::vector<TensorType> types;
  for (const HostTensor& operand : operands) types.push_back(operand.type);
  const Dimensions dimensions = dimensions_of(op, types);
  std::vector<HostTensor> results(operands.begin(),
                                  operands.begin() + static_cast<std::ptrdiff_t>(count));
  const Shape& shape = types[0].shape;
  if (types[count + 1].elements() == 0) return results;
  const Indices strides = row_major_strides(shape);
  const auto rank = static_cast<std::int64_t>(shape.size());
  // One window after the other.
  Indices names, sizes, from;
  const Indices by_name = dimensions.updates_by_name();
  const Indices all_strides = row_major_strides(types[count + 1].shape);
  for (const bool is_window : {false, true}) {
    for (std::size_t i = 0; i < by_name.size(); ++i) {
      if ((by_name[i] < rank) != is_window) continue;
      names.push_back(by_name[i]);
      sizes.push_back(types[count + 1].shape[i]);
      from.push_back(all_strides[i]);
    }
  }
  Indices index(names.size());
  do {
    auto [at, within] = dimensions.starts.element(operands[count], names, index);
    bool is_inside = true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      is_inside = is_inside && at[d] >= 0 && at[d] <= shape[d] - dimensions.sizes[d];
    }
    if (!is_inside) continue;
    for (std::size_t d = 0; d < shape.size(); ++d) at[d] += within[d];
    const std::size_t to = element_at(at, strides);
    std::vector<HostTensor> arguments;
    for (std::size_t i = 0; i < 2 * count; ++i) {
      const HostTensor& tensor = i < count ? results[i] : operands[i + 1];
      HostTensor& argument = arguments.emplace_back(TensorType{tensor.type.dtype, {}});
      copy_element(argument, 0, tensor, i < count ? to : element_at(index, from));
    }
    const std::vector<HostTensor> combined = evaluate_scalar_region(op.regions[0], arguments);
    for (std::size_t i = 0; i < count; ++i) copy_element(results[i], to, combined[i], 0);
  } while (next_index(index, sizes));
  return results;
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const std::size_t count = operands.size() / 2;
  const std::span<const Tensor> inputs = operands.first(count);
  if (operands[count + 1].type().elements() == 0) return {inputs.begin(), inputs.end()};
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  const Dimensions dimensions = dimensions_of(op, types);
  const StartIndices& indices = dimensions.starts;
  const Windows windows(types[0].shape, dimensions.sizes, indices.operand_batching());
  std::map<std::int64_t, Tensor> starts;
  std::optional<Tensor> where;
  for (const auto& [d, start] : indices.starts(operands[count])) {
    const Tensor inside = is_start(start, windows.last_start(d));
    where = where ? *where & inside : inside;
    starts.emplace(d, clamped_start(start, windows.last_start(d)));
  }
  Op put;
  put.attributes = table_attributes(windows.table(), windows.window());
  const auto unique = op.attributes.find("unique_indices");
  if (unique != op.attributes.end()) put.attributes.insert(*unique);
  put.regions = op.regions;
  std::vector<Tensor> of_put(inputs.begin(), inputs.end());
  of_put.push_back(windows.offsets(builder, indices.places(), starts, where ? &*where : nullptr));
  const auto rank = static_cast<std::int64_t>(types[0].shape.size());
  Indices places = indices.ordered();
  for (std::int64_t& place : places) place += rank;
  for (std::size_t i = 0; i < count; ++i) {
    of_put.push_back(
        windows.to_native(operands[count + 1 + i], dimensions.updates_by_name(), places));
  }
  return builder.append(kPutOp, of_put, std::move(put));
}

/// Whether a region returns its second argument, or one elementwise op of both.
bool is_one_op(const Graph& region) {
  if (region.arguments().size() != 2) return false;
  if (region.ops().empty()) return region.results()[0] == region.arguments()[1];
  const Op& op = region.ops().front();
  return region.ops().size() == 1 && op.operands.size() == 2 && region.results() == op.results &&
         lowering_as<ElementwiseLowering>(op, region) != nullptr;
}

/// One window whose place is known.
bool is_static(const Op& op, const Graph& graph) {
  const TensorType &input = graph.type(op.operands[0]), &updates = graph.type(op.operands.back());
  if (op.operands.size() != 3 || !is_one_op(op.regions[0]) || updates.elements() == 0 ||
      !are_constant(graph, std::span(op.operands).subspan(1, 1))) {
    return false;
  }
  const StartIndices starts(op, kNames, input.shape, graph.type(op.operands[1]).shape);
  return TensorType{DType::kI32, starts.places()}.elements() == 1;
}

std::vector<Tensor> expand_static(GraphBuilder& builder, const Op& op,
                                  std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  const std::vector<TensorType> types{x.type(), operands[1].type(), operands[2].type()};
  const Dimensions dimensions = dimensions_of(op, types);
  const HostTensor indices = *constant_value(builder.graph(), operands[1].id);
  const Indices place(dimensions.starts.dimensions().size(), 0);
  const Indices start = dimensions.starts.start_of(indices, place);
  for (std::size_t d = 0; d < start.size(); ++d) {
    if (start[d] < 0 || start[d] > x.shape()[d] - dimensions.sizes[d]) return {x};
  }
  Tensor combined = reshape(operands[2], dimensions.sizes);
  const Graph& region = op.regions[0];
  if (!region.ops().empty()) {
    const Op& one = region.ops().front();
    std::vector<Tensor> both;
    for (const ValueId operand : one.operands) {
      const bool is_update = operand == region.arguments()[1];
      both.push_back(is_update ? combined : window(x, start, dimensions.sizes));
    }
    Op rest;
    rest.attributes = one.attributes;
    combined = builder.append(*one.definition, both, std::move(rest))[0];
  }
  return {with_window(x, start, combined)};
}

}  // namespace

const OpDefinition kScatterOp{
    .name = "stablehlo.scatter",
    .summary = "A tensor with boxes combined into it that begin where vectors of indices say.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand_static, is_static}, ExpandLowering{expand}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType), .regions = 1},
    .attributes =
        "scatter_dimension_numbers update_window_dims inserted_window_dims input_batching_dims "
        "scatter_indices_batching_dims scatter_dims_to_operand_dims index_vector_dim "
        "indices_are_sorted unique_indices",
};

}  // namespace superstep
