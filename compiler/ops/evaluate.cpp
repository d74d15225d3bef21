#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/op.h"

namespace superstep {

namespace {

/// The constant that makes a value; null where nothing or something else does.
const Op* constant_op(const Graph& graph, ValueId value) {
  const Op* op = graph.producer_of(value);
  return op != nullptr && lowering_as<ConstantLowering>(*op, graph) != nullptr ? op : nullptr;
}

}  // namespace

std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> arguments) {
  if (arguments.size() != graph.arguments().size()) {
    throw MalformedInput(
        fmt::format("{} arguments given, expected {}", arguments.size(), graph.arguments().size()));
  }
  std::vector<HostTensor> values(graph.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorType& expected = graph.type(graph.arguments()[i]);
    if (arguments[i].type != expected) {
      throw MalformedInput(fmt::format("argument {} is {}, expected {}", i,
                                       arguments[i].type.text(), expected.text()));
    }
    values[index(graph.arguments()[i])] = arguments[i];
  }
  for (const Op& op : graph.ops()) {
    std::vector<HostTensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(values[index(operand)]);
    std::vector<HostTensor> results = op.definition->evaluate(op, operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      SUPERSTEP_CHECK(results[i].type == graph.type(op.results[i]),
                      "a reference result has the inferred type");
      values[index(op.results[i])] = std::move(results[i]);
    }
  }
  std::vector<HostTensor> results;
  for (const ValueId result : graph.results()) results.push_back(values[index(result)]);
  return results;
}

std::optional<HostTensor> constant_value(const Graph& graph, ValueId value) {
  const Op* op = constant_op(graph, value);
  return op != nullptr ? std::optional(op->definition->evaluate(*op, {})[0]) : std::nullopt;
}

bool are_constant(const Graph& graph, std::span<const ValueId> values) {
  return std::ranges::all_of(values,
                             [&](ValueId value) { return constant_op(graph, value) != nullptr; });
}

}  // namespace superstep
