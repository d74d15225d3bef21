#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// Operands are the selector, then what the regions use of outside; each region takes all of the
/// latter.
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (!operands[0].shape.empty()) {
    malformed(op, fmt::format("the selector is {}, expected a scalar", operands[0].text()));
  }
  std::vector<TensorType> results;
  for (std::size_t r = 0; r < op.regions.size(); ++r) {
    const Graph& region = op.regions[r];
    if (region.arguments().size() != operands.size() - 1) {
      malformed(op, fmt::format("region {} has {} arguments, expected none", r,
                                region.arguments().size()));
    }
    std::vector<TensorType> types;
    for (const ValueId result : region.results()) types.push_back(region.type(result));
    if (r == 0) results = types;
    if (types != results) {
      malformed(op, fmt::format("region {} returns other types than region 0", r));
    }
  }
  return results;
}

std::vector<HostTensor> evaluate_named(const Op& op, std::span<const HostTensor> operands) {
  const Graph& region = op.regions[branch_of(op, read_int(operands[0], 0))];
  return evaluate(region, operands.subspan(1));
}

/// A case of two regions, of which false is the first.
std::vector<Tensor> expand_if(GraphBuilder& builder, const Op& op,
                              std::span<const Tensor> operands) {
  std::vector<Tensor> all(operands.begin(), operands.end());
  all[0] = convert(all[0], DType::kI32);
  Op by_number;
  by_number.regions = {op.regions[1], op.regions[0]};
  return builder.append(kCaseOp, all, std::move(by_number));
}

std::vector<Tensor> expand_scalar_case(GraphBuilder& builder, const Op& op,
                                       std::span<const Tensor> operands) {
  std::vector<std::vector<Tensor>> results;
  for (const Graph& region : op.regions) {
    results.push_back(builder.append_graph(region, operands.subspan(1)));
  }
  return choose_branch(op, operands[0], results);
}

std::vector<Vote> votes(const Op&, const Graph&) { return {}; }

}  // namespace

const OpDefinition kCaseOp{
    .name = "stablehlo.case",
    .summary = "What the region with the number of the operand returns; the last if there is none.",
    .infer = infer,
    .evaluate = evaluate_named,
    .lowerings = {ExpandLowering{expand_scalar_case, is_scalar_branch},
                  StepLowering{.lower = lower_case, .votes = votes}},
    .traits = {.operands = OperandTypes{only(DType::kI32)}.then_any_number_of(kAnyDType),
               .regions = kSomeRegions,
               .control = Control::kBranch},
};

const OpDefinition kIfOp{
    .name = "stablehlo.if",
    .summary = "What the first region returns where the operand is true, else the second.",
    .infer = infer,
    .evaluate = evaluate_named,
    .lowerings = {ExpandLowering{expand_if}},
    .traits = {.operands = OperandTypes{kBooleans}.then_any_number_of(kAnyDType),
               .regions = 2,
               .control = Control::kBranch},
};

}  // namespace superstep
