#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ops/emit_graph.h"
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

using vertex::Primitive;

/// What an op applies to its two operands, if that is all it does.
std::optional<Primitive> only_primitive(const Op& op, const Graph& graph) {
  if (op.operands.size() != 2 || lowering_as<ElementwiseLowering>(op, graph) == nullptr) {
    return std::nullopt;
  }
  const vertex::Expression expression = expression_of(op, graph);
  const vertex::Expression::Step& last = expression.steps().back();
  const bool is_only = expression.steps().size() == 3 && last.operands == std::vector{0U, 1U};
  return is_only ? std::optional(last.primitive) : std::nullopt;
}

bool is_extreme(Primitive primitive) {
  return primitive == Primitive::kMax || primitive == Primitive::kMin;
}

/// The extreme of x and y that is on the same side of y as x: x > y exactly when max(x, y) > y, and
/// with a NaN neither is.
std::optional<Primitive> extreme_for(Primitive comparison) {
  if (comparison == Primitive::kGt || comparison == Primitive::kLe) return Primitive::kMax;
  if (comparison == Primitive::kLt || comparison == Primitive::kGe) return Primitive::kMin;
  return std::nullopt;
}

}  // namespace

Graph compare_extremes(Graph graph) {
  std::vector<std::optional<Primitive>> primitives;
  for (const Op& op : graph.ops()) primitives.push_back(only_primitive(op, graph));
  const auto is_one = [](const auto& primitive) { return primitive && is_extreme(*primitive); };
  if (std::ranges::none_of(primitives, is_one)) return graph;
  Rewrite rewrite(graph);
  std::map<std::tuple<Primitive, ValueId, ValueId>, ValueId> extremes;
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    const Op& op = graph.ops()[i];
    Op translated = rewrite.translated(op);
    if (is_one(primitives[i])) {
      extremes.insert({{*primitives[i], op.operands[0], op.operands[1]}, op.results[0]});
      extremes.insert({{*primitives[i], op.operands[1], op.operands[0]}, op.results[0]});
    } else if (const auto extreme = primitives[i] ? extreme_for(*primitives[i]) : std::nullopt) {
      const auto found = extremes.find({*extreme, op.operands[0], op.operands[1]});
      if (found != extremes.end()) translated.operands[0] = rewrite.of(found->second);
    }
    rewrite.add(op, std::move(translated));
  }
  return rewrite.finish();
}

}  // namespace superstep
