#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// The extreme of x and y that is on the same side of y as x: x > y exactly when max(x, y) > y, and
/// with a NaN neither is.
const OpDefinition* extreme_for(const Op& op) {
  if (op.definition != &kCompareOp) return nullptr;
  const auto type = op.attributes.find("compare_type");
  if (type != op.attributes.end() && std::get<std::string>(type->second) == "TOTALORDER") {
    return nullptr;
  }
  const auto& direction = std::get<std::string>(op.attributes.at("comparison_direction"));
  if (direction == "GT" || direction == "LE") return &kMaximumOp;
  if (direction == "LT" || direction == "GE") return &kMinimumOp;
  return nullptr;
}

}  // namespace

Graph compare_extremes(Graph graph) {
  const auto may_change = [](const Op& op) { return extreme_for(op) != nullptr; };
  if (std::ranges::none_of(graph.ops(), may_change)) return graph;
  Rewrite rewrite(graph);
  std::map<std::tuple<const OpDefinition*, ValueId, ValueId>, ValueId> extremes;
  for (const Op& op : graph.ops()) {
    Op translated = rewrite.translated(op);
    if (op.definition == &kMaximumOp || op.definition == &kMinimumOp) {
      extremes.insert({{op.definition, op.operands[0], op.operands[1]}, op.results[0]});
      extremes.insert({{op.definition, op.operands[1], op.operands[0]}, op.results[0]});
    } else if (const OpDefinition* extreme = extreme_for(op)) {
      const auto found = extremes.find({extreme, op.operands[0], op.operands[1]});
      if (found != extremes.end()) translated.operands[0] = rewrite.of(found->second);
    }
    rewrite.add(op, std::move(translated));
  }
  return rewrite.finish();
}

}  // namespace superstep
