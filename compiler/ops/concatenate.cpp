#include <array>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands.empty()) malformed(op, "has no operands, expected one or more");
  TensorType result = operands[0];
  const std::size_t along = dimension(op, "dimension", result.shape.size());
  result.shape[along] = 0;
  for (const TensorType& operand : operands) {
    TensorType rest = operand;
    if (rest.shape.size() == result.shape.size()) rest.shape[along] = result.shape[along];
    if (rest != result) {
      malformed(op, fmt::format("{} and {} differ in more than dimension {}", operands[0].text(),
                                operand.text(), along));
    }
    result.shape[along] += operand.shape[along];
  }
  return {std::move(result)};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  std::vector<TensorType> types;
  for (const HostTensor& operand : operands) types.push_back(operand.type);
  HostTensor result(infer(op, types)[0]);
  const std::size_t along = dimension(op, "dimension", result.type.shape.size());
  const Indices to = row_major_strides(result.type.shape);
  std::int64_t begin = 0;
  for (const HostTensor& operand : operands) {
    const Shape& shape = operand.type.shape;
    const Indices from = row_major_strides(shape);
    Indices index(shape.size());
    if (operand.type.elements() != 0) {
      do {
        Indices target = index;
        target[along] += begin;
        copy_element(result, element_at(target, to), operand, element_at(index, from));
      } while (next_index(index, shape));
    }
    begin += shape[along];
  }
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  const Shape& result = graph.type(op.results[0]).shape;
  const std::size_t along = dimension(op, "dimension", result.size());
  const Indices to = row_major_strides(result);
  std::vector<StridedBox> all;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Shape& shape = graph.type(op.operands[i]).shape;
    for (StridedBox& box :
         single_box({i, shape, row_major_strides(shape), to, 0, begin * to[along]})) {
      all.push_back(std::move(box));
    }
    begin += shape[along];
  }
  return all;
}

constexpr std::array kKeywords = {Keyword{"dim", Keyword::Value::kInteger, "dimension"}};

}  // namespace

const OpDefinition kConcatenateOp{
    .name = "stablehlo.concatenate",
    .summary = "Tensors after each other along one dimension.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType)},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
