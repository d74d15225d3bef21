#include <cmath>
#include <limits>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_any(double x) { return std::isinf(x); }
bool is_positive(double x) { return x == kInfinity; }
bool is_negative(double x) { return x == -kInfinity; }

std::vector<TensorType> infer(const Op&, std::span<const TensorType> operands) {
  return {{DType::kI1, operands[0].shape}};
}

template <bool (*kPredicate)(double)>
std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  return map_elements(operands, DType::kI1, write_int, [&](std::size_t i) {
    return std::int64_t{kPredicate(read_float(x, element_of(x, i)))};
  });
}

std::vector<Tensor> expand_any(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {abs(operands[0]) == kInfinity};
}
std::vector<Tensor> expand_positive(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {operands[0] == kInfinity};
}
std::vector<Tensor> expand_negative(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {operands[0] == -kInfinity};
}

}  // namespace

const OpDefinition kIsInfOp{
    .name = "chlo.is_inf",
    .summary = "Whether each element is infinite.",
    .infer = infer,
    .evaluate = evaluate<is_any>,
    .lowerings = {ExpandLowering{expand_any}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kIsPosInfOp{
    .name = "chlo.is_pos_inf",
    .summary = "Whether each element is positive infinity.",
    .infer = infer,
    .evaluate = evaluate<is_positive>,
    .lowerings = {ExpandLowering{expand_positive}},
    .traits = {.operands = {kFloats}},
};
const OpDefinition kIsNegInfOp{
    .name = "chlo.is_neg_inf",
    .summary = "Whether each element is negative infinity.",
    .infer = infer,
    .evaluate = evaluate<is_negative>,
    .lowerings = {ExpandLowering{expand_negative}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
