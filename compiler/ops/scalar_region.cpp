#include "compiler/ops/scalar_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

bool is_scalar(const Lowering& lowering) {
  return std::visit(Overloaded{[](const ElementwiseLowering&) { return true; },
                               [](const ConstantLowering&) { return true; },
                               [](const RearrangeLowering&) { return false; },
                               // What it expands to is checked again.
                               [](const ExpandLowering&) { return true; },
                               [](const StepLowering&) { return false; }},
                    lowering);
}

}  // namespace

void check_scalar_ops(const Graph& region, std::string_view what) {
  for (const Op& inner : region.ops()) {
    if (inner.definition->traits.is_opaque) continue;
    // In no use it may be anything else: here it is evaluated for all elements at once.
    if (!std::ranges::all_of(inner.definition->lowerings, is_scalar)) {
      unsupported(
          inner,
          fmt::format("within {}; only elementwise ops and constants are supported there", what));
    }
  }
}

void check_scalar_region(const Op& op, std::span<const TensorType> types) {
  std::vector<TensorType> arguments(types.begin(), types.end());
  arguments.insert(arguments.end(), types.begin(), types.end());
  check_scalar_region(op, op.regions[0], arguments, types);
}

void check_scalar_region(const Op& op, const Graph& region, std::span<const TensorType> arguments,
                         std::span<const TensorType> results) {
  if (region.arguments().size() != arguments.size() || region.results().size() != results.size()) {
    malformed(op, fmt::format("the reducer has {} arguments and {} results, expected {} and {}",
                              region.arguments().size(), region.results().size(), arguments.size(),
                              results.size()));
  }
  const auto check = [&](const std::vector<ValueId>& found, std::span<const TensorType> types) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorType& type = region.type(found[i]);
      if (type == types[i]) continue;
      malformed(
          op, fmt::format("the reducer has {} where {} is expected", type.text(), types[i].text()));
    }
  };
  check(region.arguments(), arguments);
  check(region.results(), results);
  check_scalar_ops(region, "a reducer");
}

std::vector<HostTensor> evaluate_scalar_region(const Graph& region,
                                               std::vector<HostTensor> arguments) {
  std::vector<HostTensor> values(region.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[index(region.arguments()[i])] = std::move(arguments[i]);
  }
  for (const Op& op : region.ops()) {
    std::vector<HostTensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(values[index(operand)]);
    std::vector<HostTensor> results = op.definition->evaluate(op, operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      values[index(op.results[i])] = std::move(results[i]);
    }
  }
  std::vector<HostTensor> results;
  for (const ValueId result : region.results()) results.push_back(values[index(result)]);
  return results;
}

void append_scalar_region(GraphBuilder& builder, const Graph& region, const Shape& shape,
                          std::span<const ValueId> wanted, RegionValues& values) {
  std::vector<bool> needed(region.values().size());
  for (const ValueId value : wanted) needed[index(value)] = true;
  const auto adds = [&](const Op& op) {
    return std::ranges::any_of(op.results,
                               [&](ValueId v) { return needed[index(v)] && !values[index(v)]; });
  };
  for (auto op = region.ops().rbegin(); op != region.ops().rend(); ++op) {
    if (!adds(*op)) continue;
    for (const ValueId operand : op->operands) needed[index(operand)] = true;
  }
  for (const Op& op : region.ops()) {
    if (!adds(op)) continue;
    std::vector<Tensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(values[index(operand)].value());
    Op copy = op;
    const bool is_constant = op.operands.empty();
    for (TensorType& type : copy.declared) {
      if (!is_constant) type.shape = shape;
    }
    const OpDefinition& definition = *op.definition;
    const std::vector<Tensor> results = builder.append(definition, operands, std::move(copy));
    for (std::size_t i = 0; i < results.size(); ++i) {
      values[index(op.results[i])] = is_constant ? broadcast(results[i], shape, {}) : results[i];
    }
  }
}

std::vector<Tensor> apply_scalar_region(const Graph& region, std::span<const Tensor> arguments) {
  RegionValues values(region.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[index(region.arguments()[i])] = arguments[i];
  }
  append_scalar_region(*arguments.front().builder, region, arguments.front().shape(),
                       region.results(), values);
  std::vector<Tensor> results;
  for (const ValueId result : region.results()) results.push_back(values[index(result)].value());
  return results;
}

const Op* only_op_of(const Graph& region) {
  if (region.ops().size() != 1 || region.arguments().size() != 2) return nullptr;
  const Op& op = region.ops().front();
  const bool is_result = region.results() == op.results;
  const bool takes_both = op.operands.size() == 2 && op.operands[0] != op.operands[1];
  return is_result && takes_both ? &op : nullptr;
}

bool sums_floats(const Graph& region) {
  const Op* op = only_op_of(region);
  return op != nullptr && op->definition == &kAddOp && is_float(region.type(op->results[0]).dtype);
}

}  // namespace superstep
