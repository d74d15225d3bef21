#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const Shape& shape = operands[0].shape;
  const Indices& dimensions = index_list(op, "dimensions", shape.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] == static_cast<std::int64_t>(d)) continue;
    malformed(op, "dimensions are not those of the operands, in order");
  }
  const Graph& region = op.regions[0];
  if (region.arguments().size() != operands.size() || region.results().size() != 1) {
    malformed(op, fmt::format("the function has {} arguments and {} results, expected {} and 1",
                              region.arguments().size(), region.results().size(), operands.size()));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const TensorType scalar{operands[i].dtype, {}};
    const TensorType& argument = region.type(region.arguments()[i]);
    if (operands[i].shape != shape) malformed(op, "the operands have different shapes");
    if (argument == scalar) continue;
    malformed(op, fmt::format("argument {} of the function is {}, expected {}", i, argument.text(),
                              scalar.text()));
  }
  const TensorType& result = region.type(region.results()[0]);
  if (!result.shape.empty()) {
    malformed(op, fmt::format("the function returns {}, expected a scalar", result.text()));
  }
  check_scalar_ops(region, "a function of elements");
  return {{result.dtype, shape}};
}

/// Element by element.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const Graph& region = op.regions[0];
  HostTensor result({region.type(region.results()[0]).dtype, operands[0].type.shape});
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    std::vector<HostTensor> arguments;
    for (const HostTensor& operand : operands) {
      copy_element(arguments.emplace_back(TensorType{operand.type.dtype, {}}), 0, operand, i);
    }
    copy_element(result, i, evaluate_scalar_region(region, std::move(arguments))[0], 0);
  }
  return {std::move(result)};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Graph& region = op.regions[0];
  RegionValues values(region.values().size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    values[index(region.arguments()[i])] = operands[i];
  }
  append_scalar_region(builder, region, operands[0].shape(), region.results(), values);
  return {values[index(region.results()[0])].value()};
}

}  // namespace

const OpDefinition kMapOp{
    .name = "stablehlo.map",
    .summary = "A function of scalars, of the elements of tensors one by one.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes{kAnyDType}.then_any_number_of(kAnyDType), .regions = 1},
    .attributes = "dimensions",
};

}  // namespace superstep
