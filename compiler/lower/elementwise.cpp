#include "compiler/lower/elementwise.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ops/op.h"

namespace superstep {
namespace {

/// Buffers that one vertex reads or writes: more would not stay in registers.
constexpr std::size_t kMostBuffers = 8;
constexpr std::size_t kMostOps = 24;

}  // namespace

std::string expression_key(const vertex::Expression& expression,
                           const std::vector<vertex::Node>& outputs) {
  std::string key;
  for (const vertex::Expression::Step& step : expression.steps()) {
    key +=
        std::to_string(static_cast<int>(step.primitive)) + ':' + std::string(name_of(step.dtype));
    for (const std::uint32_t operand : step.operands) key += ' ' + std::to_string(operand);
    key += '#' + std::to_string(step.bits) + ';';
  }
  for (const vertex::Node output : outputs) key += '>' + std::to_string(output.id);
  return key;
}

void ElementwiseFusion::add(const Op& op) {
  const std::int64_t elements = values_.elements(op.results[0]);
  const LayoutPtr layout = builder_.linear().of(elements);
  const Origin origin = values_.origin(op);
  Time time;
  std::vector<ValueId> fused;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    const bool is_one = values_.elements(operand) != elements;
    if (values_.is_fused(operand) && !is_one) {
      fused.push_back(operand);
      time = std::max(time, values_.time(operand));
      continue;
    }
    const std::optional<Splat> splat = values_.splat(operand);
    if (splat && splat->bits) continue;
    if (splat && elements > 1) {
      const Values::Spread spread =
          values_.spread(*splat, values_.type(operand).dtype, layout, origin);
      scalars_[{&op, i}] = spread.buffer;
      time = std::max(time, spread.time);
      continue;
    }
    values_.stored(operand);
    time = std::max(time, values_.time(operand));
  }
  for (const ValueId operand : fused) {
    if (values_.time(operand) != time) values_.stored(operand);
  }
  for (const ValueId result : op.results) values_.set_fused(result, time);
  groups_[{time, elements}].push_back(&op);
}

void ElementwiseFusion::finish() {
  // Which values cross parts must be known before the first part is emitted.
  std::vector<std::pair<const std::pair<Time, std::int64_t>*, std::vector<Group>>> all;
  for (const auto& [key, group] : groups_) all.emplace_back(&key, parts(group));
  for (const auto& [key, of_group] : all) {
    for (const Group& part : of_group) {
      std::set<ValueId> inside;
      for (const Op* op : part) {
        for (const ValueId operand : op->operands) {
          const ValueId v = values_.root(operand);
          const bool is_scalar = values_.elements(v) != key->second;
          if (values_.is_fused(v) && !is_scalar && !inside.contains(v)) values_.stored(v);
        }
        inside.insert(op->results.begin(), op->results.end());
      }
    }
  }
  for (const auto& [key, of_group] : all) {
    for (const Group& part : of_group) emit(key->first, key->second, part);
  }
}

/// Cuts a group, in its order, where a vertex would read and write too many buffers.
std::vector<ElementwiseFusion::Group> ElementwiseFusion::parts(const Group& group) const {
  std::vector<Group> all;
  std::set<ValueId> buffers, inside;
  for (const Op* op : group) {
    std::set<ValueId> grown = buffers;
    for (const ValueId operand : op->operands) {
      const ValueId v = values_.root(operand);
      if (!inside.contains(v) && !values_.repeated_bits(v)) grown.insert(v);
    }
    for (const ValueId result : op->results) {
      if (values_.buffer(result)) grown.insert(result);
    }
    if (!all.empty() && (grown.size() > kMostBuffers || all.back().size() == kMostOps)) {
      all.emplace_back();
      inside.clear();
      buffers.clear();
      for (const ValueId operand : op->operands) buffers.insert(values_.root(operand));
    } else {
      if (all.empty()) all.emplace_back();
      buffers = std::move(grown);
    }
    inside.insert(op->results.begin(), op->results.end());
    all.back().push_back(op);
  }
  return all;
}

void ElementwiseFusion::emit(Time time, std::int64_t elements, const Group& part) {
  vertex::Expression expression;
  std::map<ValueId, vertex::Node> nodes;
  std::map<Input, vertex::Node> input_nodes;
  std::vector<Input> inputs;
  const auto input = [&](BufferId buffer, vertex::Access access, DType dtype) {
    const auto [at, is_new] = input_nodes.try_emplace({buffer, access}, vertex::Node{});
    if (is_new) {
      at->second = expression.input(static_cast<std::uint32_t>(inputs.size()), dtype);
      inputs.push_back({buffer, access});
    }
    return at->second;
  };
  for (const Op* op : part) {
    std::vector<vertex::Node> operands;
    for (std::size_t i = 0; i < op->operands.size(); ++i) {
      const ValueId v = values_.root(op->operands[i]);
      const DType dtype = values_.type(op->operands[i]).dtype;
      const auto scalar = scalars_.find({op, i});
      if (const auto node = nodes.find(v); node != nodes.end()) {
        operands.push_back(node->second);
      } else if (scalar != scalars_.end()) {
        operands.push_back(input(scalar->second, vertex::Access::kScalar, dtype));
      } else if (const auto bits = values_.repeated_bits(v)) {
        operands.push_back(expression.constant(dtype, *bits));
      } else {
        operands.push_back(input(values_.stored(v), vertex::Access::kVector, dtype));
      }
    }
    const auto& lowering = std::get<ElementwiseLowering>(op->definition->lowering);
    nodes[op->results[0]] = lowering.emit(*op, graph_, expression, operands);
  }
  ComputeSet set;
  std::vector<vertex::Node> outputs;
  for (const Op* op : part) {
    const std::optional<BufferId> buffer = values_.buffer(op->results[0]);
    if (!buffer) continue;
    outputs.push_back(nodes[op->results[0]]);
    set.writes.push_back(*buffer);
  }
  if (outputs.empty()) return;
  std::vector<vertex::Access> accesses;
  std::string key = "elementwise " + expression_key(expression, outputs);
  for (const Input& in : inputs) {
    set.reads.push_back(in.buffer);
    accesses.push_back(in.access);
    key += in.access == vertex::Access::kScalar ? " scalar" : " vector";
  }
  const Origin origin = values_.origin(*part.back());
  set.name = origin.name;
  set.operation = origin.operation;
  set.source = origin.source;
  set.flops = static_cast<std::uint64_t>(elements) * part.size();
  set.codelet = builder_.add_codelet(
      key, ElementwiseSpec{std::move(expression), std::move(outputs), std::move(accesses)});
  for (const Interval& interval : builder_.linear().of(elements)->intervals()) {
    std::vector<StateWord> state{StateWord::number(interval.count)};
    for (const BufferId buffer : set.writes) state.push_back(StateWord::address(buffer));
    for (const Input& in : inputs) state.push_back(StateWord::address(in.buffer));
    set.launches.push_back({interval.tiles[0], std::move(state)});
  }
  builder_.add_compute(time, std::move(set), true);
}

}  // namespace superstep
