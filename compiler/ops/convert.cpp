#include <fmt/format.h>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/ops.h"
#include "compiler/vertex/number.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  return {{required_result(op).dtype, operands[0].shape}};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const DType to = required_result(op).dtype;
  if (x.type.dtype == to) return {x};  // movement, which keeps the payload of a NaN
  return map_elements(operands, to, write_bits, [&](std::size_t i) {
    return vertex::convert_bits(x.type.dtype, to, read_bits(x, element_of(x, i)));
  });
}

std::vector<Node> emit(const Op& op, const Graph&, Expression& expression,
                       std::span<const Node> operands) {
  const DType to = required_result(op).dtype;
  return {expression.dtype(operands[0]) == to ? operands[0] : expression.convert(operands[0], to)};
}

std::vector<TensorType> infer_bitcast(const Op& op, std::span<const TensorType> operands) {
  const DType from = operands[0].dtype;
  const DType to = required_result(op).dtype;
  if (from != to && (from == DType::kI1 || to == DType::kI1 || size_of(from) != size_of(to))) {
    unsupported(op, fmt::format("{} and {} differ in width", name_of(from), name_of(to)));
  }
  return {{to, operands[0].shape}};
}

std::vector<HostTensor> evaluate_bitcast(const Op& op, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  result.type.dtype = required_result(op).dtype;
  return {std::move(result)};
}

std::vector<Node> emit_bitcast(const Op& op, const Graph&, Expression& expression,
                               std::span<const Node> operands) {
  const DType to = required_result(op).dtype;
  return {expression.dtype(operands[0]) == to ? operands[0] : expression.bitcast(operands[0], to)};
}

}  // namespace

const OpDefinition kConvertOp{
    .name = "stablehlo.convert",
    .summary = "Each element as another type; floats truncate and saturate to integers, NaN to 0.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ElementwiseLowering{emit}},
    .traits = {.operands = {kAnyDType}},
};
const OpDefinition kBitcastConvertOp{
    .name = "stablehlo.bitcast_convert",
    .summary = "The bits of each element as another type of the same width.",
    .infer = infer_bitcast,
    .evaluate = evaluate_bitcast,
    .lowerings = {ElementwiseLowering{emit_bitcast}},
    .traits = {.operands = {kAnyDType}},
};

}  // namespace superstep
