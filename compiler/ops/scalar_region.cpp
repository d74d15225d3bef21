#include "compiler/ops/scalar_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elementwise.h"
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

bool is_branch(const Op& op) { return op.definition->traits.control == Control::kBranch; }

std::vector<HostTensor> evaluate_branch(const Op& op, std::span<const HostTensor> operands) {
  std::vector<std::vector<HostTensor>> results;
  for (const Graph& region : op.regions) {
    results.push_back(evaluate_scalar_region(region, {operands.begin() + 1, operands.end()}));
  }
  std::vector<HostTensor> chosen;
  for (std::size_t r = 0; r < results[0].size(); ++r) {
    std::vector<HostTensor> all = {operands[0]};
    for (const std::vector<HostTensor>& of_region : results) all.push_back(of_region[r]);
    HostTensor& result =
        chosen.emplace_back(TensorType{results[0][r].type.dtype, common_shape(all)});
    for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
      const std::int64_t selector = read_int(operands[0], element_of(operands[0], i));
      const HostTensor& from = results[branch_of(op, selector)][r];
      copy_element(result, i, from, element_of(from, i));
    }
  }
  return chosen;
}

}  // namespace

bool is_same_scalar(const Op& op, const Graph& graph) {
  const auto rearranges = [](const Lowering& lowering) {
    return std::holds_alternative<RearrangeLowering>(lowering);
  };
  return op.operands.size() == 1 && std::ranges::all_of(op.definition->lowerings, rearranges) &&
         graph.type(op.operands[0]).shape.empty() && graph.type(op.results[0]).shape.empty();
}

std::size_t branch_of(const Op& op, std::int64_t selector) {
  const auto last = static_cast<std::int64_t>(op.regions.size()) - 1;
  if (op.definition == &kIfOp) return selector != 0 ? 0 : 1;
  return static_cast<std::size_t>(selector >= 0 && selector < last ? selector : last);
}

bool is_scalar_branch(const Op& op, const Graph& graph) {
  const auto is_of_one = [](const Graph& of, ValueId value) {
    return of.type(value).shape.empty();
  };
  if (!is_branch(op)) return false;
  for (const ValueId operand : op.operands) {
    if (!is_of_one(graph, operand)) return false;
  }
  return std::ranges::all_of(op.regions, [&](const Graph& region) {
    return std::ranges::all_of(region.ops(), [&](const Op& inner) {
      for (const ValueId result : inner.results) {
        if (!is_of_one(region, result)) return false;
      }
      if (is_branch(inner)) return is_scalar_branch(inner, region);
      return inner.definition->traits.control == Control::kNone &&
             std::ranges::all_of(inner.definition->lowerings, is_scalar);
    });
  });
}

std::vector<Tensor> choose_branch(const Op& op, Tensor selector,
                                  const std::vector<std::vector<Tensor>>& results) {
  std::vector<Tensor> chosen = results.back();
  for (std::size_t b = results.size() - 1; b-- > 0;) {
    const Tensor is_named = op.definition == &kIfOp ? selector : selector == static_cast<double>(b);
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      chosen[r] = select(is_named, results[b][r], chosen[r]);
    }
  }
  return chosen;
}

void check_scalar_ops(const Graph& region, std::string_view what) {
  for (const Op& inner : region.ops()) {
    if (inner.definition->traits.is_opaque || is_same_scalar(inner, region)) continue;
    if (is_branch(inner)) {
      for (const Graph& branch : inner.regions) check_scalar_ops(branch, what);
      continue;
    }
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
    if (is_same_scalar(op, region)) {
      values[index(op.results[0])] = values[index(op.operands[0])];
      continue;
    }
    std::vector<HostTensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(values[index(operand)]);
    std::vector<HostTensor> results =
        is_branch(op) ? evaluate_branch(op, operands) : op.definition->evaluate(op, operands);
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
    if (is_branch(op)) {
      std::vector<std::vector<Tensor>> results;
      for (const Graph& branch : op.regions) {
        RegionValues inner(branch.values().size());
        for (std::size_t i = 0; i < branch.arguments().size(); ++i) {
          inner[index(branch.arguments()[i])] = operands[i + 1];
        }
        append_scalar_region(builder, branch, shape, branch.results(), inner);
        std::vector<Tensor>& of_branch = results.emplace_back();
        for (const ValueId result : branch.results()) {
          of_branch.push_back(inner[index(result)].value());
        }
      }
      const std::vector<Tensor> chosen = choose_branch(op, operands[0], results);
      for (std::size_t i = 0; i < chosen.size(); ++i) values[index(op.results[i])] = chosen[i];
      continue;
    }
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
