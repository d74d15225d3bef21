#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {

Graph divide_ops(Graph graph, const MachineConfig& machine) {
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    std::vector<Tensor> results;
    const auto* step = lowering_as<StepLowering>(op, graph);
    if (step != nullptr && step->divide != nullptr) {
      GraphBuilder builder = rewrite.builder(op);
      std::vector<Tensor> operands;
      for (const ValueId v : op.operands) operands.push_back(builder.value(rewrite.of(v)));
      results = step->divide(builder, op, operands, machine);
    }
    if (results.empty()) rewrite.add(op, rewrite.translated(op));
    for (std::size_t i = 0; i < results.size(); ++i) {
      SUPERSTEP_CHECK(results[i].type() == rewrite.old_type(op.results[i]),
                      "what an op is divided into has its types");
      rewrite.replace(op.results[i], results[i].id);
    }
  }
  return rewrite.finish();
}

}  // namespace superstep
