#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& operand = operands[0];
  const TensorType result = required_result(op);
  index_list(op, "broadcast_dimensions", operand.shape.size());
  const Indices dimensions = dimension_list(op, "broadcast_dimensions", result.shape.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::int64_t size = result.shape[static_cast<std::size_t>(dimensions[i])];
    if (operand.shape[i] != 1 && operand.shape[i] != size) {
      malformed(
          op, fmt::format("dimension {} of {} has neither size 1 nor that of dimension {} of {}", i,
                          operand.text(), dimensions[i], result.text()));
    }
  }
  return {{operand.dtype, result.shape}};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  HostTensor result(required_result(op));
  if (result.type.elements() == 0) return {std::move(result)};
  const Indices& dimensions = attribute<Indices>(op, "broadcast_dimensions");
  const Indices from = row_major_strides(x.type.shape);
  const Indices to = row_major_strides(result.type.shape);
  Indices index(to.size());
  do {
    Indices source(dimensions.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = x.type.shape[i] == 1 ? 0 : index[static_cast<std::size_t>(dimensions[i])];
    }
    copy_element(result, element_at(index, to), x, element_at(source, from));
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  const Shape& shape = graph.type(op.operands[0]).shape;
  const Shape& result = graph.type(op.results[0]).shape;
  const Indices& dimensions = attribute<Indices>(op, "broadcast_dimensions");
  const Indices strides = row_major_strides(shape);
  Indices from(result.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) from[static_cast<std::size_t>(dimensions[i])] = strides[i];
  }
  return single_box({0, result, from, row_major_strides(result)});
}

/// The dimensions of the operand behind new ones.
Op in_last_dimensions(const Op& op, const TensorType& operand) {
  const auto& sizes = attribute<Indices>(op, "broadcast_sizes");
  if (std::ranges::any_of(sizes, [](std::int64_t n) { return n < 0; })) {
    malformed(op, "broadcast_sizes has a negative one");
  }
  Op broadcast;
  broadcast.definition = &kBroadcastInDimOp;
  broadcast.location = op.location;
  TensorType result{operand.dtype, sizes};
  Indices dimensions;
  for (const std::int64_t size : operand.shape) {
    dimensions.push_back(static_cast<std::int64_t>(result.shape.size()));
    result.shape.push_back(size);
  }
  broadcast.attributes = {{"broadcast_dimensions", std::move(dimensions)}};
  broadcast.declared = {std::move(result)};
  return broadcast;
}
std::vector<TensorType> infer_leading(const Op& op, std::span<const TensorType> operands) {
  return in_last_dimensions(op, operands[0]).declared;
}
std::vector<HostTensor> evaluate_leading(const Op& op, std::span<const HostTensor> operands) {
  return evaluate(in_last_dimensions(op, operands[0].type), operands);
}
std::vector<Tensor> expand_leading(GraphBuilder& builder, const Op& op,
                                   std::span<const Tensor> operands) {
  return builder.append(kBroadcastInDimOp, operands, in_last_dimensions(op, operands[0].type()));
}

constexpr std::array kLeadingKeywords = {
    Keyword{"sizes", Keyword::Value::kIntegers, "broadcast_sizes"}};
constexpr std::array kKeywords = {
    Keyword{"dims", Keyword::Value::kIntegers, "broadcast_dimensions"}};

}  // namespace

const OpDefinition kBroadcastOp{
    .name = "stablehlo.broadcast",
    .summary = "A tensor repeated along new dimensions in front of its own.",
    .infer = infer_leading,
    .evaluate = evaluate_leading,
    .lowerings = {ExpandLowering{expand_leading}},
    .traits = {.operands = {kAnyDType}, .is_shorthand = true},
    .syntax = {.keywords = kLeadingKeywords},
};
const OpDefinition kBroadcastInDimOp{
    .name = "stablehlo.broadcast_in_dim",
    .summary = "A tensor repeated along new dimensions and those of size 1.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
