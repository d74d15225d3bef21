#include "compiler/lower/control/scalar_slice.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

/// Ops between a value and what it follows from.
constexpr int kMostDepth = 32;

/// Whether an op of single elements gives its operand another place or shape.
bool copies_its_operand(const Op& op, const Graph& graph) {
  return lowering_as<RearrangeLowering>(op, graph) != nullptr && op.operands.size() == 1;
}

bool is_constant(const Op& op, const Graph& graph) {
  return lowering_as<ConstantLowering>(op, graph) != nullptr;
}

vertex::Node constant_of(const Op& op, vertex::Expression& expression) {
  const HostTensor constant = op.definition->evaluate(op, {})[0];
  return expression.constant(constant.type.dtype, read_bits(constant, 0));
}

/// The op whose only result a value is; null when there is none.
const Op* producer(ValueId value, const Graph& graph) {
  const Op* op = graph.producer_of(value);
  return op != nullptr && op->results.size() == 1 ? op : nullptr;
}

/// Whether a supervisor can compute an op.
bool can_compute(const Op& op, const Graph& graph) {
  const auto is_scalar_value = [&](ValueId v) { return is_scalar(graph.type(v)); };
  if (!is_scalar_value(op.results[0]) || !std::ranges::all_of(op.operands, is_scalar_value)) {
    return false;
  }
  if (is_constant(op, graph) || copies_its_operand(op, graph)) return true;
  const auto* lowering = lowering_as<ElementwiseLowering>(op, graph);
  if (lowering == nullptr) return false;
  vertex::Expression trial;
  std::vector<vertex::Node> operands;
  for (const ValueId operand : op.operands) {
    const Op* made_by = producer(operand, graph);
    const bool is_fixed = made_by != nullptr && is_constant(*made_by, graph);
    operands.push_back(is_fixed ? constant_of(*made_by, trial)
                                : trial.input(0, graph.type(operand).dtype));
  }
  (void)lowering->emit(op, graph, trial, operands);
  return std::ranges::all_of(trial.steps(), [&](const vertex::Expression::Step& step) {
    return vertex::is_scalar(trial, step);
  });
}

}  // namespace

bool is_word(const TensorType& type) {
  return type.elements() == 1 && (type.dtype == DType::kI32 || type.dtype == DType::kU32);
}

bool is_scalar(const TensorType& type) {
  return is_word(type) || (type.elements() == 1 && type.dtype == DType::kI1);
}

ScalarSlice::Words ScalarSlice::words_for(ValueId value, int depth) {
  if (const auto at = words_.find(value); at != words_.end()) return at->second;
  return words_[value] = find_words(value, depth);
}

ScalarSlice::Words ScalarSlice::find_words(ValueId value, int depth) {
  if (is_known_(value)) return std::vector<ValueId>();
  Words words;
  const Op* op = producer(value, graph_);
  if (op != nullptr && depth < kMostDepth && can_compute(*op, graph_)) {
    words.emplace();
    for (const ValueId operand : op->operands) {
      const Words its = words_for(operand, depth + 1);
      if (!its) {
        words.reset();
        break;
      }
      for (const ValueId word : *its) {
        if (std::ranges::find(*words, word) == words->end()) words->push_back(word);
      }
    }
  }
  // To have one word on all tiles takes an exchange; two take longer.
  if (is_word(graph_.type(value)) && (!words || words->size() > 1)) return std::vector{value};
  return words;
}

vertex::Node ScalarNodes::of(ValueId value) {
  if (const auto at = nodes_.find(value); at != nodes_.end()) return at->second;
  const std::optional<vertex::Node> known = known_(value);
  return nodes_[value] = known ? *known : computed(value);
}

vertex::Node ScalarNodes::computed(ValueId value) {
  const Op* op = producer(value, graph_);
  SUPERSTEP_CHECK(op != nullptr, "a scalar does not follow from what is known");
  if (is_constant(*op, graph_)) return constant_of(*op, scalars_.expression);
  std::vector<vertex::Node> operands;
  for (const ValueId operand : op->operands) operands.push_back(of(operand));
  if (copies_its_operand(*op, graph_)) return operands[0];
  const auto* lowering = lowering_as<ElementwiseLowering>(*op, graph_);
  return lowering->emit(*op, graph_, scalars_.expression, operands)[0];
}

}  // namespace superstep
