#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/graph/append_copy.h"
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// What is known of an argument of a region.
struct Argument {
  /// It is always the result of the last of these: a constant, perhaps rearranged.
  std::vector<const Op*> constant = {};
  bool is_kept = true;
};

Graph with_constants(const Graph& region, const std::vector<Argument>& arguments) {
  Graph graph;
  std::vector<ValueId> values(region.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Value& value = region.value(region.arguments()[i]);
    if (!arguments[i].is_kept) continue;
    values[index(region.arguments()[i])] = graph.add_argument(value.type, value.name);
  }
  const std::vector<ValueId> kept = values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const Op* op : arguments[i].constant) {
      Op copy = *op;
      ValueId& value = values[index(region.arguments()[i])];
      if (!copy.operands.empty()) copy.operands = {value};
      value = graph.add_op(std::move(copy)).results[0];
    }
  }
  for (const Op& op : region.ops()) {
    std::vector<std::string> names;
    for (const ValueId result : op.results) names.push_back(region.value(result).name);
    append_copy(graph, op, values, names);
  }
  std::vector<ValueId> results;
  for (const ValueId result : region.results()) {
    // What a loop carries unchanged stays what it carries.
    const auto at = std::ranges::find(region.arguments(), result);
    const bool is_kept =
        at != region.arguments().end() &&
        arguments[static_cast<std::size_t>(at - region.arguments().begin())].is_kept;
    results.push_back(is_kept ? kept[index(result)] : values[index(result)]);
  }
  graph.set_results(std::move(results));
  return graph;
}

std::vector<const Op*> constant_of(const Graph& graph, ValueId value) {
  const Op* op = graph.producer_of(value);
  if (op == nullptr) return {};
  if (lowering_as<ConstantLowering>(*op, graph) != nullptr) return {op};
  if (lowering_as<RearrangeLowering>(*op, graph) == nullptr || op->operands.size() != 1) return {};
  std::vector<const Op*> constant = constant_of(graph, op->operands[0]);
  if (!constant.empty()) constant.push_back(op);
  return constant;
}

/// What is known of the arguments of an op's regions; none where nothing is.
std::vector<Argument> known_arguments(const Graph& graph, const Op& op) {
  const bool is_loop = op.definition->traits.control == Control::kLoop;
  const std::size_t captures = is_loop ? op.results.size() : 1;
  const std::size_t first = is_loop ? 0 : 1;
  std::vector<Argument> arguments(op.operands.size() - first);
  bool is_any_known = false;
  for (std::size_t i = first; i < op.operands.size(); ++i) {
    std::vector<const Op*> constant = constant_of(graph, op.operands[i]);
    if (constant.empty()) continue;
    const bool is_captured = i >= captures;
    if (!is_captured && op.regions[1].results()[i] != op.regions[1].arguments()[i]) continue;
    arguments[i - first] = {std::move(constant), !is_captured};
    // Where it is carried, it is known only to those who use it.
    is_any_known = is_any_known || is_captured;
  }
  return is_any_known ? arguments : std::vector<Argument>();
}

}  // namespace

Graph sink_constants(Graph graph) {
  const auto is_control = [](const Op& op) {
    return op.definition->traits.control != Control::kNone;
  };
  if (std::ranges::none_of(graph.ops(), is_control)) return graph;
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    Op copy = rewrite.translated(op);
    const std::vector<Argument> arguments =
        is_control(op) ? known_arguments(graph, op) : std::vector<Argument>();
    if (!arguments.empty()) {
      const std::size_t first = op.operands.size() - arguments.size();
      copy.operands.resize(first);
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].is_kept) copy.operands.push_back(rewrite.of(op.operands[first + i]));
      }
      for (Graph& region : copy.regions) region = with_constants(region, arguments);
    }
    for (Graph& region : copy.regions) region = sink_constants(std::move(region));
    rewrite.add(op, std::move(copy));
  }
  return rewrite.finish();
}

}  // namespace superstep
