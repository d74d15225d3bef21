#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/comparator.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/sorting.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// Counted from the end where it is negative; the last one where nothing says it.
std::size_t dimension_of(const Op& op, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t d =
      op.attributes.contains("dimension") ? attribute<std::int64_t>(op, "dimension") : -1;
  if (d < -rank || d >= rank) {
    malformed(op, fmt::format("dimension {} is none of a tensor of rank {}", d, rank));
  }
  return static_cast<std::size_t>(d < 0 ? d + rank : d);
}

void check_comparator(const Op& op, std::span<const TensorType> operands) {
  const Graph& region = op.regions[0];
  if (region.arguments().size() != 2 * operands.size()) {
    malformed(op, fmt::format("the comparator has {} arguments, expected {}",
                              region.arguments().size(), 2 * operands.size()));
  }
  for (std::size_t i = 0; i < 2 * operands.size(); ++i) {
    const TensorType& type = region.type(region.arguments()[i]);
    const TensorType expected{operands[i / 2].dtype, {}};
    if (type == expected) continue;
    malformed(op, fmt::format("argument {} of the comparator is {}, expected {}", i, type.text(),
                              expected.text()));
  }
  const TensorType predicate{DType::kI1, {}};
  if (region.results().size() != 1 || region.type(region.results()[0]) != predicate) {
    malformed(op, "the comparator does not return one tensor<i1>");
  }
  check_scalar_ops(region, "a comparator");
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands.empty()) malformed(op, "has no operands");
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].shape == operands[0].shape) continue;
    malformed(op, fmt::format("operand {} is {}, expected the shape of {}", i, operands[i].text(),
                              operands[0].text()));
  }
  static_cast<void>(dimension_of(op, operands[0].shape));
  if (op.attributes.contains("is_stable")) {
    static_cast<void>(attribute<bool>(op, "is_stable"));
  }
  check_comparator(op, operands);
  return {operands.begin(), operands.end()};
}

HostTensor element(const HostTensor& tensor, std::size_t i) {
  HostTensor scalar(TensorType{tensor.type.dtype, {}});
  copy_element(scalar, 0, tensor, i);
  return scalar;
}

/// Row by row, by merging, which is stable.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  std::vector<HostTensor> results(operands.begin(), operands.end());
  const Shape& shape = operands[0].type.shape;
  const std::size_t dimension = dimension_of(op, shape);
  const auto stride = static_cast<std::size_t>(row_major_strides(shape)[dimension]);
  const auto size = static_cast<std::size_t>(shape[dimension]);
  const auto elements = static_cast<std::size_t>(operands[0].type.elements());
  const Graph comparator = with_ordered_floats(op.regions[0]);
  const auto is_before = [&](std::size_t a, std::size_t b) {
    std::vector<HostTensor> arguments;
    for (const HostTensor& operand : operands) {
      arguments.push_back(element(operand, a));
      arguments.push_back(element(operand, b));
    }
    return read_int(evaluate_scalar_region(comparator, std::move(arguments))[0], 0) != 0;
  };
  for (std::size_t first = 0; first < elements; ++first) {
    if (first / stride % size != 0) continue;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < size; ++i) order.push_back(first + i * stride);
    std::ranges::stable_sort(order, is_before);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        copy_element(results[k], first + i * stride, operands[k], order[i]);
      }
    }
  }
  return results;
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Graph comparator = with_ordered_floats(op.regions[0]);
  return sorted(operands, dimension_of(op, operands[0].shape()), Comparator(comparator));
}

}  // namespace

const OpDefinition kSortOp{
    .name = "stablehlo.sort",
    .summary =
        "Rows of tensors along a dimension, in the order of a function of two rows; always stable.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType), .regions = 1},
    .attributes = "dimension is_stable",
};

}  // namespace superstep
