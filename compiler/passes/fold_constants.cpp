#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// Larger values are cheaper to compute or to copy than to keep [assumed].
constexpr std::size_t kMostBytes = 256 * 1024;
/// Larger constants are not looked at: their evaluation takes the host longer than it saves
/// [assumed].
constexpr std::size_t kMostOperandBytes = 64 * 1024 * 1024;

}  // namespace

Graph fold_constants(Graph graph) {
  bool has_changed = false;
  Rewrite rewrite(graph);
  std::map<ValueId, HostTensor> known;  // by value of the old graph
  for (const Op& op : graph.ops()) {
    const Traits& traits = op.definition->traits;
    bool foldable = !op.results.empty() && traits.effect == Effect::kNone && !traits.is_opaque &&
                    !traits.folds_expanded && traits.control == Control::kNone;
    bool has_many = op.operands.empty();
    const auto given = std::max<std::int64_t>(1, std::ssize(op.operands));  // elements
    std::vector<HostTensor> operands;
    for (const ValueId operand : op.operands) {
      const auto value = known.find(operand);
      foldable = foldable && value != known.end();
      has_many = has_many || graph.type(operand).elements() > 1;
      if (foldable) operands.push_back(value->second);
    }
    for (const ValueId result : op.results) {
      const TensorType& type = graph.type(result);
      // One element repeated stays a broadcast: its users read the one.
      foldable = foldable && type.bytes() <= kMostBytes && (has_many || type.elements() <= given);
    }
    if (!foldable) {
      rewrite.add(op, rewrite.translated(op));
      if (lowering_as<ConstantLowering>(op, graph) != nullptr &&
          graph.type(op.results[0]).bytes() <= kMostOperandBytes) {
        known[op.results[0]] = op.definition->evaluate(op, {})[0];
      }
      continue;
    }
    has_changed = true;
    std::vector<HostTensor> values = op.definition->evaluate(op, operands);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      GraphBuilder builder = rewrite.builder(op);
      rewrite.replace(op.results[i], builder.constant(values[i]).id);
      known[op.results[i]] = std::move(values[i]);
    }
  }
  if (!has_changed) return graph;
  return rewrite.finish();
}

}  // namespace superstep
