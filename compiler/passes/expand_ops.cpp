#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

void expand(Rewrite& rewrite, const Op& op, const ExpandLowering& lowering) {
  GraphBuilder builder = rewrite.builder(op);
  std::vector<Tensor> operands;
  for (const ValueId operand : op.operands) operands.push_back(builder.value(rewrite.of(operand)));
  const std::vector<Tensor> results = lowering.expand(builder, op, operands);
  SUPERSTEP_CHECK(results.size() == op.results.size(), "an expansion has the results of its op");
  for (std::size_t i = 0; i < results.size(); ++i) {
    SUPERSTEP_CHECK(results[i].type() == rewrite.old_type(op.results[i]),
                    "an expansion has the types of its op");
    rewrite.replace(op.results[i], results[i].id);
  }
}

}  // namespace

Graph expand_ops(Graph graph) {
  const auto expands = [&](const Op& op) {
    return lowering_as<ExpandLowering>(op, graph) != nullptr;
  };
  while (std::ranges::any_of(graph.ops(), expands)) {
    Rewrite rewrite(graph);
    for (const Op& op : graph.ops()) {
      if (const auto* lowering = lowering_as<ExpandLowering>(op, graph)) {
        expand(rewrite, op, *lowering);
      } else {
        rewrite.add(op, rewrite.translated(op));
      }
    }
    graph = rewrite.finish();
  }
  return graph;
}

}  // namespace superstep
