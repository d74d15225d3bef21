#include <array>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  dimension_list(op, "dimensions", operands[0].shape.size());
  return {operands[0]};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const Shape& shape = x.type.shape;
  HostTensor result(x.type);
  if (result.type.elements() == 0) return {std::move(result)};
  const Indices dimensions = dimension_list(op, "dimensions", shape.size());
  const Indices strides = row_major_strides(shape);
  Indices index(shape.size());
  do {
    Indices source = index;
    for (const std::int64_t dimension : dimensions) {
      const auto d = static_cast<std::size_t>(dimension);
      source[d] = shape[d] - 1 - index[d];
    }
    copy_element(result, element_at(index, strides), x, element_at(source, strides));
  } while (next_index(index, shape));
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  const Shape& shape = graph.type(op.operands[0]).shape;
  const Indices to = row_major_strides(shape);
  Indices from = to;
  std::int64_t offset = 0;
  for (const std::int64_t dimension : dimension_list(op, "dimensions", shape.size())) {
    const auto d = static_cast<std::size_t>(dimension);
    offset += (shape[d] - 1) * to[d];
    from[d] = -to[d];
  }
  return single_box({0, shape, from, to, offset, 0});
}

constexpr std::array kKeywords = {Keyword{"dims", Keyword::Value::kIntegers, "dimensions"}};

}  // namespace

const OpDefinition kReverseOp{
    .name = "stablehlo.reverse",
    .summary = "The elements of some dimensions in opposite order.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
