#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ops/identity.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scalar_region.h"
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

/// How an op expands, if it is one of those that are asked for.
using Choice = const ExpandLowering* (*)(const Op& op, const Graph& graph);

/// Whether a chosen op is in the graph or in a region in it.
bool has_chosen(const Graph& graph, Choice choice) {
  return std::ranges::any_of(graph.ops(), [&](const Op& op) {
    return choice(op, graph) != nullptr ||
           std::ranges::any_of(op.regions,
                               [&](const Graph& region) { return has_chosen(region, choice); });
  });
}

/// Expansions may have regions whose ops expand too.
Graph expand_chosen(Graph graph, Choice choice) {
  while (has_chosen(graph, choice)) {
    Rewrite rewrite(graph);
    for (const Op& op : graph.ops()) {
      if (const auto* lowering = choice(op, graph)) {
        expand(rewrite, op, *lowering);
      } else {
        Op copy = rewrite.translated(op);
        for (Graph& region : copy.regions) region = expand_chosen(std::move(region), choice);
        rewrite.add(op, std::move(copy));
      }
    }
    graph = rewrite.finish();
  }
  return graph;
}

}  // namespace

Graph expand_ops(Graph graph) {
  return expand_chosen(std::move(graph), lowering_as<ExpandLowering>);
}

Graph expand_shorthands(Graph graph) {
  static const ExpandLowering kIdentity{expand_identity};
  return expand_chosen(std::move(graph), [](const Op& op, const Graph& of) {
    if (is_same_scalar(op, of)) return &kIdentity;
    return op.definition->traits.is_shorthand ? lowering_as<ExpandLowering>(op, of) : nullptr;
  });
}

}  // namespace superstep
