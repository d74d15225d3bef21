#include <fmt/format.h>

#include <optional>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/sliding_window.h"
#include "compiler/ops/verify.h"
#include "compiler/ops/window_reduction.h"

namespace superstep {
namespace {

std::vector<SlidingWindow> windows_of(const Op& op, const Shape& shape) {
  const Indices& sizes = index_list(op, "window_dimensions", shape.size());
  for (const std::int64_t size : sizes) {
    if (size < 1) malformed(op, fmt::format("has windows of {} places, expected 1 or more", size));
  }
  return sliding_windows(op, sizes, shape,
                         {"window_strides", "padding", "base_dilations", "window_dilations"});
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands.empty() || operands.size() % 2 != 0) {
    malformed(op, fmt::format("has {} operands, expected as many inputs as initial values",
                              operands.size()));
  }
  const std::size_t count = operands.size() / 2;
  const Shape& shape = operands[0].shape;
  const Shape counts = window_counts(windows_of(op, shape), shape);
  std::vector<TensorType> results;
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i].shape != shape) malformed(op, "the inputs have different shapes");
    const TensorType scalar{operands[i].dtype, {}};
    if (operands[count + i] != scalar) {
      malformed(op, fmt::format("initial value {} is {}, expected {}", i,
                                operands[count + i].text(), scalar.text()));
    }
    results.push_back({operands[i].dtype, counts});
  }
  check_scalar_region(op, operands.subspan(count));
  return results;
}

/// By window in row-major order, the number of the element at a place of it; none where that is
/// padding or between elements.
std::vector<std::optional<std::size_t>> elements_at(const std::vector<SlidingWindow>& windows,
                                                    const Shape& shape, const Indices& place) {
  std::vector<std::optional<std::size_t>> elements;
  const Shape counts = window_counts(windows, shape);
  const Indices strides = row_major_strides(shape);
  Indices window(shape.size());
  do {
    std::optional<std::size_t> element = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto at = windows[d].element(window[d], place[d], shape[d]);
      element = at && element ? std::optional(*element + static_cast<std::size_t>(*at * strides[d]))
                              : std::nullopt;
    }
    elements.push_back(element);
  } while (next_index(window, counts));
  return elements;
}

/// Elements of each window are taken in row-major order, from the initial value; what is padding or
/// between elements is none, as JAX has it on CPUs, where StableHLO's own text takes the initial
/// value again. Float sums are kept in f64 and rounded once.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::size_t count = operands.size() / 2;
  const Shape& shape = operands[0].type.shape;
  const std::vector<SlidingWindow> windows = windows_of(op, shape);
  std::vector<HostTensor> results;
  for (std::size_t i = 0; i < count; ++i) {
    results.emplace_back(TensorType{operands[i].type.dtype, window_counts(windows, shape)});
  }
  const auto elements = static_cast<std::size_t>(results[0].type.elements());
  if (elements == 0) return results;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t e = 0; e < elements; ++e) {
      copy_element(results[i], e, operands[count + i], 0);
    }
  }
  const bool sums = count == 1 && sums_floats(op.regions[0]);
  std::vector<double> wide(sums ? elements : 0, sums ? read_float(operands[1], 0) : 0);
  Shape sizes;
  for (const SlidingWindow& window : windows) sizes.push_back(window.size);
  Indices place(shape.size());
  do {
    const auto from = elements_at(windows, shape, place);
    std::vector<std::size_t> taking;
    for (std::size_t e = 0; e < elements; ++e) {
      if (from[e]) taking.push_back(e);
    }
    if (sums) {
      for (const std::size_t e : taking) wide[e] += read_float(operands[0], *from[e]);
      continue;
    }
    std::vector<HostTensor> arguments;
    for (std::size_t i = 0; i < 2 * count; ++i) {
      const HostTensor& tensor = i < count ? results[i] : operands[i - count];
      HostTensor& argument = arguments.emplace_back(
          TensorType{tensor.type.dtype, {static_cast<std::int64_t>(taking.size())}});
      for (std::size_t t = 0; t < taking.size(); ++t) {
        copy_element(argument, t, tensor, i < count ? taking[t] : *from[taking[t]]);
      }
    }
    const auto combined = evaluate_scalar_region(op.regions[0], std::move(arguments));
    for (std::size_t i = 0; i < count; ++i) {
      // A reducer that ignores its arguments gives one value for all.
      const bool is_one = combined[i].type.shape.empty();
      for (std::size_t t = 0; t < taking.size(); ++t) {
        copy_element(results[i], taking[t], combined[i], is_one ? 0 : t);
      }
    }
  } while (next_index(place, sizes));
  for (std::size_t e = 0; e < wide.size(); ++e) write_float(results[0], e, wide[e]);
  return results;
}

/// A sum of short floats is kept in f32 and rounded once.
Tensor summed_in_f32(const Op& op, Tensor input, Tensor initial) {
  const auto wide = [](Tensor x) { return convert(x, DType::kF32); };
  Op sums;
  sums.attributes = op.attributes;
  Graph& region = sums.regions.emplace_back();
  GraphBuilder inner(region, input.builder->location());
  const Tensor left = inner.argument({DType::kF32, {}}), right = inner.argument({DType::kF32, {}});
  region.set_results({(left + right).id});
  const Tensor result =
      input.builder->apply(*op.definition, {wide(input), wide(initial)}, std::move(sums));
  return convert(result, input.dtype());
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const std::size_t count = operands.size() / 2;
  if (count == 1 && sums_floats(op.regions[0]) && is_short_float(operands[0].dtype())) {
    return {summed_in_f32(op, operands[0], operands[1])};
  }
  return reduce_windows(op.regions[0], operands.first(count), operands.subspan(count),
                        windows_of(op, operands[0].shape()));
}

}  // namespace

const OpDefinition kReduceWindowOp{
    .name = "stablehlo.reduce_window",
    .summary = "Elements of each place of a sliding window combined by a function of scalars.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType),
               .regions = 1,
               .folds_expanded = true},
    .attributes = "window_dimensions window_strides base_dilations window_dilations padding",
};

}  // namespace superstep
