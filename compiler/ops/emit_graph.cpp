#include "compiler/ops/emit_graph.h"

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"

namespace superstep {

vertex::Expression expression_of(const Op& op, const Graph& graph) {
  vertex::Expression expression;
  std::vector<vertex::Node> operands;
  for (const ValueId operand : op.operands) {
    operands.push_back(
        expression.input(static_cast<std::uint32_t>(operands.size()), graph.type(operand).dtype));
  }
  (void)lowering_as<ElementwiseLowering>(op, graph)->emit(op, graph, expression, operands);
  return expression;
}

std::vector<vertex::Node> emit_graph(const Graph& scalars, vertex::Expression& expression,
                                     std::span<const vertex::Node> arguments) {
  SUPERSTEP_CHECK(arguments.size() == scalars.arguments().size(), "one node for each argument");
  std::vector<vertex::Node> nodes(scalars.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    nodes[index(scalars.arguments()[i])] = arguments[i];
  }
  for (const Op& op : scalars.ops()) {
    if (op.definition->traits.is_opaque) {
      for (std::size_t i = 0; i < op.results.size(); ++i) {
        nodes[index(op.results[i])] = nodes[index(op.operands[i])];
      }
    } else if (const auto* lowering = lowering_as<ElementwiseLowering>(op, scalars)) {
      std::vector<vertex::Node> operands;
      for (const ValueId operand : op.operands) operands.push_back(nodes[index(operand)]);
      const std::vector<vertex::Node> results = lowering->emit(op, scalars, expression, operands);
      for (std::size_t i = 0; i < results.size(); ++i) nodes[index(op.results[i])] = results[i];
    } else {
      SUPERSTEP_CHECK(lowering_as<ConstantLowering>(op, scalars) != nullptr,
                      "a scalar region holds elementwise ops and constants");
      const std::vector<HostTensor> value = op.definition->evaluate(op, {});
      nodes[index(op.results[0])] =
          expression.constant(value[0].type.dtype, read_bits(value[0], 0));
    }
  }
  std::vector<vertex::Node> results;
  for (const ValueId result : scalars.results()) results.push_back(nodes[index(result)]);
  return results;
}

}  // namespace superstep
