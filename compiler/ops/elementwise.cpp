#include "compiler/ops/elementwise.h"

#include <fmt/format.h>

#include "compiler/vertex/number.h"

namespace superstep {

Shape common_shape(std::span<const HostTensor> operands) {
  for (const HostTensor& operand : operands) {
    if (!operand.type.shape.empty()) return operand.type.shape;
  }
  return {};
}

std::vector<TensorType> infer_same_type(const Op& op, std::span<const TensorType> operands) {
  for (const TensorType& operand : operands) {
    if (operand != operands[0]) {
      malformed(op, fmt::format("operands have types {} and {}, expected equal ones",
                                operands[0].text(), operand.text()));
    }
  }
  return {operands[0]};
}

vertex::Node emit_number(vertex::Expression& expression, DType dtype, std::int64_t value) {
  return expression.constant(dtype, is_float(dtype)
                                        ? vertex::bits_of_float(dtype, static_cast<double>(value))
                                        : vertex::bits_of_int(dtype, value));
}

}  // namespace superstep
