#include "compiler/ops/scalar_region.h"

#include <fmt/format.h>

#include <algorithm>

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

void check_scalar_region(const Op& op, std::span<const TensorType> types) {
  const Graph& region = op.regions[0];
  const std::size_t count = types.size();
  if (region.arguments().size() != 2 * count || region.results().size() != count) {
    malformed(op,
              fmt::format("the reducer has {} arguments and {} results, expected {} and {}",
                          region.arguments().size(), region.results().size(), 2 * count, count));
  }
  for (std::size_t i = 0; i < 3 * count; ++i) {
    const TensorType& type = i < 2 * count ? region.type(region.arguments()[i])
                                           : region.type(region.results()[i - 2 * count]);
    if (type != types[i % count]) {
      malformed(op, fmt::format("the reducer has {} where {} is expected", type.text(),
                                types[i % count].text()));
    }
  }
  for (const Op& inner : region.ops()) {
    if (inner.definition->traits.is_opaque) continue;
    // In no use it may be anything else: here it is evaluated for all elements at once.
    if (!std::ranges::all_of(inner.definition->lowerings, is_scalar)) {
      unsupported(inner,
                  "within a reducer; only elementwise ops and constants are supported there");
    }
  }
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

}  // namespace superstep
