#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// Whether the op was divided.
bool divide(Rewrite& rewrite, const Op& op, const StepLowering& lowering,
            const MachineConfig& machine) {
  GraphBuilder builder = rewrite.builder(op);
  std::vector<Tensor> operands;
  for (const ValueId operand : op.operands) operands.push_back(builder.value(rewrite.of(operand)));
  const std::vector<Tensor> results = lowering.divide(builder, op, operands, machine);
  for (std::size_t i = 0; i < results.size(); ++i) {
    SUPERSTEP_CHECK(results[i].type() == rewrite.old_type(op.results[i]),
                    "what an op is divided into has its types");
    rewrite.replace(op.results[i], results[i].id);
  }
  return !results.empty();
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the table of passes has it
Graph divide_ops(Graph graph, const MachineConfig& machine) {
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    const auto* step = lowering_as<StepLowering>(op, graph);
    const bool may_divide = step != nullptr && step->divide != nullptr;
    if (may_divide && divide(rewrite, op, *step, machine)) continue;
    rewrite.add(op, rewrite.translated(op));
  }
  return rewrite.finish();
}

}  // namespace superstep
