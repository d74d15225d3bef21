#include <array>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

Indices permutation_of(const Op& op, std::size_t rank) {
  index_list(op, "permutation", rank);
  return dimension_list(op, "permutation", rank);
}

Shape permuted(const Op& op, const Shape& shape) {
  Shape result;
  for (const std::int64_t from : permutation_of(op, shape.size())) {
    result.push_back(shape[static_cast<std::size_t>(from)]);
  }
  return result;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  return {{operands[0].dtype, permuted(op, operands[0].shape)}};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const Indices permutation = permutation_of(op, x.type.shape.size());
  HostTensor result(TensorType{x.type.dtype, permuted(op, x.type.shape)});
  const Indices from = row_major_strides(x.type.shape);
  const Indices to = row_major_strides(result.type.shape);
  if (result.type.elements() == 0) return {std::move(result)};
  Indices index(to.size());
  do {
    Indices source(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      source[static_cast<std::size_t>(permutation[i])] = index[i];
    }
    copy_element(result, element_at(index, to), x, element_at(source, from));
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  const Shape& shape = graph.type(op.operands[0]).shape;
  const Shape result = permuted(op, shape);
  const Indices strides = row_major_strides(shape);
  Indices from;
  for (const std::int64_t dimension : permutation_of(op, shape.size())) {
    from.push_back(strides[static_cast<std::size_t>(dimension)]);
  }
  return single_box({0, result, from, row_major_strides(result)});
}

const Indices& permutation(const Op& op) { return attribute<Indices>(op, "permutation"); }

constexpr std::array kKeywords = {Keyword{"dims", Keyword::Value::kIntegers, "permutation"}};

}  // namespace

const OpDefinition kTransposeOp{
    .name = "stablehlo.transpose",
    .summary = "The dimensions of a tensor in another order.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes, permutation}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
