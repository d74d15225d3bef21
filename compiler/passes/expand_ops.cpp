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

/// Whether an op of the graph or of a region in it expands.
bool has_expansions(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [&](const Op& op) {
    return lowering_as<ExpandLowering>(op, graph) != nullptr ||
           std::ranges::any_of(op.regions, has_expansions);
  });
}

}  // namespace

// Expansions may have regions whose ops expand too.
Graph expand_ops(Graph graph) {
  while (has_expansions(graph)) {
    Rewrite rewrite(graph);
    for (const Op& op : graph.ops()) {
      if (const auto* lowering = lowering_as<ExpandLowering>(op, graph)) {
        expand(rewrite, op, *lowering);
      } else {
        Op copy = rewrite.translated(op);
        for (Graph& region : copy.regions) region = expand_ops(std::move(region));
        rewrite.add(op, std::move(copy));
      }
    }
    graph = rewrite.finish();
  }
  return graph;
}

}  // namespace superstep
