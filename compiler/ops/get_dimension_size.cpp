#include <array>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  static_cast<void>(dimension(op, "dimension", operands[0].shape.size()));
  return {{DType::kI32, {}}};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const Shape& shape = operands[0].type.shape;
  HostTensor size(TensorType{DType::kI32, {}});
  write_int(size, 0, shape[dimension(op, "dimension", shape.size())]);
  return {std::move(size)};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const auto d = static_cast<std::size_t>(attribute<std::int64_t>(op, "dimension"));
  return {builder.number(DType::kI32, static_cast<double>(operands[0].shape()[d]))};
}

constexpr std::array kKeywords = {Keyword{"dim", Keyword::Value::kInteger, "dimension"}};

}  // namespace

const OpDefinition kGetDimensionSizeOp{
    .name = "stablehlo.get_dimension_size",
    .summary = "The size of a dimension.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
