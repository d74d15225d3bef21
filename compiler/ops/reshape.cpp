#include <fmt/format.h>

#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  TensorType result = required_result(op);
  if (result.elements() != operands[0].elements()) {
    malformed(op, fmt::format("{} has {} elements, {} has {}", operands[0].text(),
                              operands[0].elements(), result.text(), result.elements()));
  }
  return {{operands[0].dtype, std::move(result.shape)}};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  result.type = required_result(op);
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  return single_box({0, {graph.type(op.operands[0]).elements()}, {1}, {1}});
}

}  // namespace

const OpDefinition kReshapeOp{
    .name = "stablehlo.reshape",
    .summary = "The same elements, in row-major order, in another shape.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType}},
};

}  // namespace superstep
