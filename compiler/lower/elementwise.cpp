#include "compiler/lower/elementwise.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "compiler/ops/emit_graph.h"
#include "compiler/ops/op.h"
#include "compiler/vertex/fold_constants.h"
#include "compiler/vertex/worker_code.h"

namespace superstep {
namespace {

/// Buffers that one vertex reads or writes: their addresses lie in registers beside a count of
/// turns and the offsets of elements of three sizes.
constexpr std::size_t kMostBuffers = vertex::kMRegisters - 1 - 3;
/// Code of one vertex, which every tile holds: ops are no longer fused where together they would
/// take more, but for those that one op on f64 became, which are not parted [chosen on 24 generated
/// chains on small64: device cycles above the least are 0.38 % on average with 512, 0.26 % with
/// 2,048, 0.93 % with 8,192].
constexpr std::size_t kMostCodeBytes = 2048;
/// Code of a group from which on ops that one op on f64 became (`split_wide_types`) have vertices
/// of their own, which others of their kind share [assumed].
constexpr std::size_t kMostCodeOfWholeUnits = 16384;
/// Two elements a turn, some two instructions a step [measured on stablehlo.power: 14.7].
constexpr std::size_t kBytesPerStep = 16;

/// Steps of a formula that compute.
std::size_t computing_steps(const vertex::Expression& expression) {
  const auto is_computed = [](const vertex::Expression::Step& step) {
    return !step.operands.empty();
  };
  return static_cast<std::size_t>(std::ranges::count_if(expression.steps(), is_computed));
}

/// Code that an op's formula takes, about.
std::size_t code_bytes(const Op& op, const Graph& graph) {
  return kBytesPerStep * computing_steps(expression_of(op, graph));
}

/// Adds one op to those that a step computes. What an op of the module became is one, and has the
/// name of the last.
void add_fused(std::vector<FusedOperation>& fused, Origin op, std::uint32_t cycles_alone) {
  const auto known = op.source.module.line == 0
                         ? fused.end()
                         : std::ranges::find(fused, op.source, &FusedOperation::source);
  if (known != fused.end()) cycles_alone += known->cycles_alone;
  FusedOperation& one = known != fused.end() ? *known : fused.emplace_back();
  one = {std::move(op.name), std::move(op.operation), std::move(op.source), cycles_alone};
}

/// The number of the op on f64 that an op was a part of; -1: none.
std::int64_t unit_of(const Op& op) {
  const auto unit = op.attributes.find("unit");
  return unit == op.attributes.end() ? -1 : std::get<std::int64_t>(unit->second);
}

/// Whether a turn of a vertex lies within one period, on every tile.
vertex::Access aligned(vertex::Access access, std::int64_t period, const Layout& layout) {
  const auto is_whole = [](std::int64_t n) { return n % vertex::kAlignedElements == 0; };
  if (!vertex::is_repeated(access) || !is_whole(period) ||
      !std::ranges::all_of(layout.intervals(), is_whole, &Interval::begin)) {
    return access;
  }
  return vertex::is_cyclic(access) ? vertex::Access::kAlignedCyclic
                                   : vertex::Access::kAlignedStretched;
}

}  // namespace

/// Where ops run: where the last one's result is wanted, else where the operand lies that is there
/// last, so that those which are there early move while others compute.
LayoutPtr ElementwiseFusion::layout_for(const std::vector<const Op*>& ops) {
  const ValueId result = ops.back()->results[0];
  if (values_.assigned().is_fixed(result)) return values_.assigned().of(result);
  LayoutPtr best;
  Time latest;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    for (const ValueId operand : (*op)->operands) {
      if (values_.elements(operand) != values_.elements(result)) continue;
      const LayoutPtr layout = values_.layout(operand);
      if (!layout || layout == builder_.layouts().everywhere()) continue;
      if (best && values_.time(operand) <= latest) continue;
      best = layout;
      latest = values_.time(operand);
    }
  }
  return best ? best : values_.assigned().of(result);
}

std::uint32_t ElementwiseFusion::cycles_alone(const Op& op) {
  vertex::Expression expression;
  std::map<ValueId, vertex::Node> nodes;
  std::vector<vertex::Node> operands;
  std::uint32_t inputs = 0;
  for (const ValueId operand : op.operands) {
    const ValueId v = values_.root(operand);
    const DType dtype = values_.type(v).dtype;
    if (const auto bits = values_.repeated_bits(v)) {
      operands.push_back(expression.constant(dtype, *bits));
      continue;
    }
    const auto [known, is_new] = nodes.try_emplace(v);
    if (is_new) known->second = expression.input(inputs++, dtype);
    operands.push_back(known->second);
  }
  const auto* lowering = lowering_as<ElementwiseLowering>(op, graph_);
  const std::vector<vertex::Node> outputs = lowering->emit(op, graph_, expression, operands);
  return formula_costs_.cycles(vertex::fold_constants(expression, outputs), inputs);
}

std::vector<const Op*> ElementwiseFusion::with_waiting(const Op& op) {
  std::vector<const Op*> ops;
  for (const ValueId operand : op.operands) {
    const auto waiting = waiting_.extract(operand);
    if (waiting) std::ranges::copy(with_waiting(*waiting.mapped()), std::back_inserter(ops));
  }
  ops.push_back(&op);
  return ops;
}

void ElementwiseFusion::add(const Op& op) {
  const std::int64_t elements = values_.elements(op.results[0]);
  const std::vector<const Op*> ops = with_waiting(op);
  const LayoutPtr layout = layout_for(ops);
  Time time;
  std::vector<ValueId> fused, inside;
  for (const Op* one : ops) {
    const Origin origin = values_.origin(*one);
    for (std::size_t i = 0; i < one->operands.size(); ++i) {
      const ValueId operand = one->operands[i];
      if (values_.repeated_bits(operand) || std::ranges::find(inside, operand) != inside.end()) {
        continue;
      }
      if (values_.is_fused(operand) && values_.layout(operand) == layout) {
        fused.push_back(operand);
        time = std::max(time, values_.time(operand));
        continue;
      }
      StoredValue stored;
      Input& input = inputs_[{one, i}];
      if (const auto broadcast = values_.broadcast(operand, elements, layout, origin)) {
        stored = broadcast->source;
        input = {stored.buffer, broadcast->access, broadcast->period};
      } else {
        stored = values_.stored(operand, layout, origin);
        input = {stored.buffer, vertex::Access::kVector, 1};
      }
      time = std::max(time, stored.time);
    }
    inside.insert(inside.end(), one->results.begin(), one->results.end());
  }
  time = with_unit(ops, layout, time);
  for (const ValueId operand : fused) {
    if (values_.time(operand) == time) continue;
    if (may_follow(operand)) {
      follow(operand, time);
    } else {
      values_.stored(operand);
    }
  }
  for (const Op* one : ops) {
    for (const ValueId result : one->results) values_.set_fused(result, time, layout);
    group(time, layout).ops.push_back(one);
  }
}

/// What one op on f64 became is done at one time, even where some of it could be done before: else
/// it would be other code each time, of pieces that store what the next one reads.
Time ElementwiseFusion::with_unit(const std::vector<const Op*>& ops, const LayoutPtr& layout,
                                  Time time) {
  const std::int64_t number = unit_of(*ops.back());
  const auto is_stored = [&](const Op* op) {
    return std::ranges::any_of(op->results,
                               [&](ValueId v) { return values_.buffer(v).has_value(); });
  };
  const bool goes_on = number >= 0 && number == unit_.number && layout == unit_.layout &&
                       std::ranges::none_of(unit_.ops, is_stored);
  if (!goes_on) unit_ = {number, layout, time, {}};
  if (time > unit_.time) {
    for (const Op* op : unit_.ops) {
      std::erase(group(unit_.time, layout).ops, op);
      for (const ValueId result : op->results) values_.set_fused(result, time, layout);
      group(time, layout).ops.push_back(op);
    }
    unit_.time = time;
  }
  unit_.ops.insert(unit_.ops.end(), ops.begin(), ops.end());
  return unit_.time;
}

ElementwiseFusion::Group& ElementwiseFusion::group(Time time, const LayoutPtr& layout) {
  const auto [at, is_new] = group_numbers_.try_emplace({time, layout.get()}, groups_.size());
  if (is_new) groups_.push_back({time, layout, {}});
  return groups_[at->second];
}

bool ElementwiseFusion::is_read(const Op& op, std::size_t i) const {
  const ValueId operand = op.operands[i];
  return values_.repeated_bits(operand) || inputs_.contains({&op, i}) ||
         values_.buffer(values_.root(operand));
}

/// It may where it reads no more than it makes, of what is stored anyway: the result is then never
/// stored, and what it reads is kept for longer. Booleans are worth it in any case.
bool ElementwiseFusion::may_follow(ValueId v) const {
  const Op* op = graph_.producer_of(v);
  const bool is_its_own = values_.is_fused(v) && values_.root(v) == v && op->results.size() == 1;
  if (!is_its_own || users_[index(v)].size() != 1 || values_.buffer(v)) return false;
  std::set<BufferId> read;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < op->operands.size(); ++i) {
    const ValueId operand = op->operands[i];
    if (!is_read(*op, i)) {
      if (!may_follow(operand)) return false;
      continue;
    }
    if (values_.repeated_bits(operand)) continue;
    const auto input = inputs_.find({op, i});
    const bool is_whole = input == inputs_.end() || input->second.access == vertex::Access::kVector;
    const BufferId buffer =
        input == inputs_.end() ? *values_.buffer(values_.root(operand)) : input->second.buffer;
    if (is_whole && read.insert(buffer).second) bytes += size_of(values_.type(operand).dtype);
  }
  const DType dtype = values_.type(v).dtype;
  return dtype == DType::kI1 || bytes <= size_of(dtype);
}

void ElementwiseFusion::follow(ValueId v, Time time) {
  const LayoutPtr layout = values_.layout(v);
  const Op* const op = graph_.producer_of(v);
  std::erase(group(values_.time(v), layout).ops, op);
  for (std::size_t i = 0; i < op->operands.size(); ++i) {
    if (!is_read(*op, i)) follow(op->operands[i], time);
  }
  values_.set_fused(v, time, layout);
  group(time, layout).ops.push_back(op);
}

void ElementwiseFusion::finish() {
  // A group may stretch what another one of the same time computes, which has fewer elements.
  std::ranges::stable_sort(groups_, {}, [](const Group& g) { return g.layout->elements(); });
  // Which values cross parts must be known before the first part is emitted.
  std::vector<Group> all;
  for (const Group& group : groups_) std::ranges::move(parts(group), std::back_inserter(all));
  for (const Group& part : all) {
    std::set<ValueId> inside;
    for (const Op* op : part.ops) {
      for (std::size_t i = 0; i < op->operands.size(); ++i) {
        const ValueId v = values_.root(op->operands[i]);
        if (values_.is_fused(v) && !inputs_.contains({op, i}) && !inside.contains(v)) {
          values_.stored(v);
        }
      }
      inside.insert(op->results.begin(), op->results.end());
    }
  }
  for (const Group& part : all) emit(part);
}

/// Cuts a group, in its order, where a vertex would read and write too many buffers or have too
/// much code; large ones between ops on f64 as well.
std::vector<ElementwiseFusion::Group> ElementwiseFusion::parts(const Group& group) const {
  std::vector<Group> all;
  std::set<ValueId> buffers, inside;
  std::size_t code = 0, whole = 0;
  for (const Op* op : group.ops) whole += code_bytes(*op, graph_);
  std::int64_t unit = -1;
  for (const Op* op : group.ops) {
    const std::size_t more = code_bytes(*op, graph_);
    std::set<ValueId> grown = buffers;
    for (const ValueId operand : op->operands) {
      const ValueId v = values_.root(operand);
      if (!inside.contains(v) && !values_.repeated_bits(v)) grown.insert(v);
    }
    for (const ValueId result : op->results) {
      if (values_.buffer(result)) grown.insert(result);
    }
    const bool goes_on = unit >= 0 && unit_of(*op) == unit;
    const bool is_next = whole > kMostCodeOfWholeUnits && unit_of(*op) != unit;
    unit = unit_of(*op);
    if (!all.empty() &&
        (is_next || grown.size() > kMostBuffers || (!goes_on && code + more > kMostCodeBytes))) {
      code = 0;
      all.push_back({group.time, group.layout, {}});
      inside.clear();
      buffers.clear();
      for (const ValueId operand : op->operands) buffers.insert(values_.root(operand));
    } else {
      if (all.empty()) all.push_back({group.time, group.layout, {}});
      buffers = std::move(grown);
    }
    code += more;
    inside.insert(op->results.begin(), op->results.end());
    all.back().ops.push_back(op);
  }
  return all;
}

void ElementwiseFusion::emit(const Group& part) {
  vertex::Expression expression;
  std::map<ValueId, vertex::Node> nodes;
  std::map<Input, vertex::Node> input_nodes;
  std::map<std::pair<DType, std::uint64_t>, vertex::Node> constants;
  std::vector<Input> inputs;
  std::vector<FusedOperation> fused;
  const auto input_node = [&](const Input& input, DType dtype) {
    const auto [at, is_new] = input_nodes.try_emplace(input, vertex::Node{});
    if (is_new) {
      at->second = expression.input(static_cast<std::uint32_t>(inputs.size()), dtype);
      inputs.push_back(input);
    }
    return at->second;
  };
  for (const Op* op : part.ops) {
    std::vector<vertex::Node> operands;
    for (std::size_t i = 0; i < op->operands.size(); ++i) {
      const ValueId v = values_.root(op->operands[i]);
      const DType dtype = values_.type(v).dtype;
      if (const auto bits = values_.repeated_bits(v)) {
        // Ops on f64 use the same few masks many times.
        const bool is_shared = unit_of(*op) >= 0;
        const auto known = constants.find({dtype, *bits});
        operands.push_back(is_shared && known != constants.end()
                               ? known->second
                               : expression.constant(dtype, *bits));
        constants.insert_or_assign({dtype, *bits}, operands.back());
      } else if (const auto input = inputs_.find({op, i}); input != inputs_.end()) {
        operands.push_back(input_node(input->second, dtype));
      } else if (const auto node = nodes.find(v); node != nodes.end()) {
        operands.push_back(node->second);
      } else {
        operands.push_back(input_node({.buffer = values_.stored(v)}, dtype));
      }
    }
    const auto* lowering = lowering_as<ElementwiseLowering>(*op, graph_);
    const std::vector<vertex::Node> results = lowering->emit(*op, graph_, expression, operands);
    if (part.ops.size() > 1) add_fused(fused, values_.origin(*op), cycles_alone(*op));
    for (std::size_t i = 0; i < results.size(); ++i) nodes[op->results[i]] = results[i];
  }
  ComputeSet set;
  std::vector<vertex::Node> outputs;
  for (const Op* op : part.ops) {
    for (const ValueId result : op->results) {
      const std::optional<BufferId> buffer = values_.buffer(result);
      if (!buffer) continue;
      outputs.push_back(nodes[result]);
      set.writes.push_back(*buffer);
    }
  }
  if (outputs.empty()) return;
  vertex::Folded folded = vertex::fold_constants(expression, outputs);
  std::uint32_t narrowest = 4;
  for (const BufferId buffer : set.writes) {
    narrowest = std::min(narrowest, builder_.buffer(buffer).element_bytes);
  }
  for (const Input& in : inputs) {
    narrowest = std::min(narrowest, builder_.buffer(in.buffer).element_bytes);
  }
  for (const vertex::Expression::Step& step : folded.expression.steps()) {
    if (!is_float(step.dtype)) continue;
    narrowest = std::min(narrowest, static_cast<std::uint32_t>(size_of(step.dtype)));
  }
  std::vector<vertex::Access> accesses;
  std::string key = "elementwise " + expression_key(folded.expression, folded.outputs);
  for (Input& in : inputs) {
    set.reads.push_back(in.buffer);
    in.access = aligned(in.access, in.period, *part.layout);
    accesses.push_back(in.access);
    Buffer& buffer = builder_.mutable_buffer(in.buffer);
    const bool repeats = vertex::state_words(in.access) > 1;
    if (repeats || buffer.element_bytes > narrowest) buffer.read_past = vertex::kReadPast;
    key += " access " + std::to_string(static_cast<int>(in.access));
  }
  const Origin origin = values_.origin(*part.ops.back());
  set.name = origin.name;
  set.operation = origin.operation;
  set.source = origin.source;
  if (fused.size() > 1) set.fused = std::move(fused);
  const auto is_arithmetic_on_floats = [&](const Op* op) {
    return op->definition->traits.is_arithmetic && is_float(graph_.type(op->results[0]).dtype) &&
           useful_flops(*op, 1) > 0;
  };
  set.flops = static_cast<std::uint64_t>(part.layout->elements() *
                                         std::ranges::count_if(part.ops, is_arithmetic_on_floats));
  set.codelet = builder_.add_codelet(
      key, vertex::Elementwise{std::move(folded.expression), std::move(folded.outputs),
                               std::move(accesses)});
  for (const Interval& interval : part.layout->intervals()) {
    vertex::Elementwise::State state{.elements = interval.count, .outputs = {}, .inputs = {}};
    for (const BufferId buffer : set.writes) state.outputs.push_back(StateWord::address(buffer));
    for (const Input& in : inputs) {
      const bool repeats = vertex::is_repeated(in.access);
      state.inputs.push_back({.access = in.access,
                              .address = StateWord::address(in.buffer),
                              .start = repeats ? interval.begin % in.period : 0,
                              .period = in.period});
    }
    const VertexState shared = state.words();
    for (const TileId tile : interval.tiles) set.launches.push_back({tile, shared});
  }
  builder_.add_compute(part.time, std::move(set), true);
}

}  // namespace superstep
