#include <cmath>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op&, std::span<const TensorType> operands) {
  return {{DType::kI1, operands[0].shape}};
}

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  return map_elements(operands, DType::kI1, write_int, [&](std::size_t i) {
    return static_cast<std::int64_t>(std::isfinite(read_float(x, element_of(x, i))));
  });
}

}  // namespace

const OpDefinition kIsFiniteOp{
    .name = "stablehlo.is_finite",
    .summary = "Whether each element is neither infinite nor NaN.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit_primitive<vertex::Primitive::kIsFinite>}},
    .traits = {.operands = {kFloats}},
};

}  // namespace superstep
