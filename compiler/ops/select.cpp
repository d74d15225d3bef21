#include <fmt/format.h>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 3);
  const TensorType& condition = operands[0];
  require_dtype(op, condition.dtype, kBooleans);
  if (operands[1] != operands[2]) {
    malformed(op, fmt::format("the choices have types {} and {}, expected equal ones",
                              operands[1].text(), operands[2].text()));
  }
  if (!condition.shape.empty() && condition.shape != operands[1].shape) {
    malformed(op, fmt::format("the predicate {} has neither rank 0 nor the shape of {}",
                              condition.text(), operands[1].text()));
  }
  return single_result(op, operands[1]);
}

std::vector<HostTensor> evaluate(const Op&, std::span<const HostTensor> operands) {
  return map_elements(operands, operands[1].type.dtype, write_bits, [&](std::size_t i) {
    const bool first = read_int(operands[0], element_of(operands[0], i)) != 0;
    const HostTensor& chosen = operands[first ? 1 : 2];
    return read_bits(chosen, element_of(chosen, i));
  });
}

}  // namespace

const OpDefinition kSelectOp{
    .name = "stablehlo.select",
    .summary = "An element of the second operand where the predicate holds, else of the third.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit_primitive<vertex::Primitive::kSelect>}},
};

}  // namespace superstep
