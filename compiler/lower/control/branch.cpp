#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/control/control_word.h"
#include "compiler/ops/graph_builder.h"

namespace superstep {
namespace {

/// From the operand that selects to the number of a region: out of range is the last; true is the
/// first of two.
Graph region_number(const Op& op, const TensorType& selector) {
  Graph graph;
  GraphBuilder builder(graph, op.location);
  const auto last = static_cast<double>(op.regions.size() - 1);
  Tensor number = builder.argument(selector);
  if (selector.dtype == DType::kI1) {
    number = select(number, builder.number(DType::kU32, 0), builder.number(DType::kU32, 1));
  } else {
    // Negative numbers are large ones without a sign.
    number = minimum(convert(number, DType::kU32), builder.number(DType::kU32, last));
  }
  graph.set_results({number.id});
  return graph;
}

}  // namespace

void lower_branch(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  const Origin origin = values.origin(op);
  std::uint32_t superstep = 0;
  RegionBuffers arm;
  std::vector<std::optional<BufferId>> operands;
  for (const ValueId operand : op.operands) {
    operands.emplace_back();
    if (values.elements(operand) == 0) continue;
    operands.back() = values.stored(operand);
    superstep = std::max(superstep, values.time(operand).superstep + 1);
  }
  arm.arguments.assign(operands.begin() + 1, operands.end());
  for (const ValueId result : op.results) {
    arm.results.emplace_back();
    if (values.elements(result) == 0) continue;
    arm.results.back() = values.add_storage(result, values.assigned().of(result));
  }
  Branch branch;
  branch.selector = add_control_word(values, block.builder, origin, ".selector");
  branch.selection = lower_region(block, region_number(op, values.type(op.operands[0])),
                                  {{operands[0]}, {branch.selector}});
  for (const Graph& region : op.regions) {
    branch.arms.push_back(lower_region(block, region, arm));
  }
  block.builder.add_control(superstep, std::move(branch));
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    if (arm.results[r]) values.set_stored(op.results[r], *arm.results[r], {superstep, 0});
  }
}

}  // namespace superstep
