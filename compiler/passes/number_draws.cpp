#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/append_copy.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"
#include "compiler/ops/random_draw.h"
#include "compiler/passes/draws.h"

namespace superstep {
namespace {

const TensorType kCount{DType::kU64, {}};

bool has_draw(const Op& op) {
  return is_random_draw(op) || std::ranges::any_of(op.regions, [](const Graph& region) {
           return std::ranges::any_of(region.ops(), has_draw);
         });
}

class DrawNumbering {
 public:
  Graph run(const Graph& from) {
    Graph to;
    std::vector<ValueId> values(from.values().size());
    for (const ValueId argument : from.arguments()) {
      values[index(argument)] = to.add_argument(from.type(argument), from.value(argument).name);
    }
    for (const Op& op : from.ops()) {
      std::vector<ValueId> count;  // here each op is executed once
      if (op.definition->traits.control != Control::kNone && has_draw(op)) {
        count.push_back(GraphBuilder(to, op.location).number(DType::kU64, 0).id);
      }
      append(to, from, op, values, count);
    }
    finish(to, from, values, {});
    return to;
  }

 private:
  /// A region that takes a count as an argument behind `place` others. Its last result is what the
  /// count is then, where that is asked for.
  Graph counted(const Graph& from, std::size_t place, bool returns, bool is_turn) {
    Graph to;
    std::vector<ValueId> values(from.values().size()), count;
    for (std::size_t i = 0; i <= from.arguments().size(); ++i) {
      if (i == place) count.push_back(to.add_argument(kCount, "count"));
      if (i == from.arguments().size()) break;
      const ValueId argument = from.arguments()[i];
      values[index(argument)] = to.add_argument(from.type(argument), from.value(argument).name);
    }
    for (const Op& op : from.ops()) append(to, from, op, values, count);
    if (is_turn) count[0] = (GraphBuilder(to, {}).value(count[0]) + 1.0).id;
    finish(to, from, values, returns ? count : std::vector<ValueId>{});
    return to;
  }

  static void finish(Graph& to, const Graph& from, const std::vector<ValueId>& values,
                     const std::vector<ValueId>& further) {
    std::vector<ValueId> results;
    for (const ValueId result : from.results()) results.push_back(values[index(result)]);
    results.insert(results.end(), further.begin(), further.end());
    to.set_results(std::move(results));
  }

  /// `count` holds the count, if there is one here, and gets what it is behind the op.
  void append(Graph& to, const Graph& from, const Op& op, std::vector<ValueId>& values,
              std::vector<ValueId>& count) {
    std::vector<std::string> names;
    for (const ValueId result : op.results) names.push_back(from.value(result).name);
    const Control control = op.definition->traits.control;
    if (!has_draw(op) || (!is_random_draw(op) && control == Control::kNone)) {
      return append_copy(to, op, values, names);
    }
    Op copy = op;
    for (ValueId& operand : copy.operands) operand = values[index(operand)];
    if (is_random_draw(op)) {
      const std::int64_t number = draws_[{op.location.module.line, op.location.module.column}]++;
      copy.attributes.insert_or_assign(std::string(kDrawAttribute), number);
      copy.operands.insert(copy.operands.end(), count.begin(), count.end());
    } else {
      const bool is_loop = control == Control::kLoop;
      const std::size_t place = is_loop ? op.results.size() : op.regions[0].arguments().size();
      const auto behind = is_loop ? copy.operands.begin() + static_cast<std::ptrdiff_t>(place)
                                  : copy.operands.end();
      copy.operands.insert(behind, count[0]);
      for (std::size_t i = 0; i < copy.regions.size(); ++i) {
        const bool is_condition = is_loop && i == 0;
        copy.regions[i] = counted(op.regions[i], place, !is_condition, is_loop && !is_condition);
      }
      if (!copy.declared.empty()) copy.declared.push_back(kCount);
      names.emplace_back("count");
    }
    const std::vector<ValueId> results = to.add_op(std::move(copy), names).results;
    for (std::size_t i = 0; i < op.results.size(); ++i) values[index(op.results[i])] = results[i];
    if (!is_random_draw(op)) count[0] = results.back();
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> draws_;  ///< by line and column
};

}  // namespace

Graph number_draws(Graph graph) {
  if (std::ranges::none_of(graph.ops(), has_draw)) return graph;
  return DrawNumbering().run(graph);
}

}  // namespace superstep
