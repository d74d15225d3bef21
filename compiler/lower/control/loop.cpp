#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/image/supervisor_registers.h"
#include "compiler/lower/block_lowering.h"
#include "compiler/lower/control/scalar_slice.h"
#include "compiler/lower/moves/copy_elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// Carried words and booleans that follow from such alone, as what counts trips does, are scalars:
/// each tile has a copy. Other values that the body changes have storage of their own, in which it
/// leaves them; those that it does not change stay where they are.
class LoopLowering {
 public:
  LoopLowering(BlockLowering& block, const Op& op)
      : block_(block),
        op_(op),
        origin_(block.values.origin(op)),
        condition_(op.regions[0]),
        body_(op.regions[1]) {}

  void run() {
    find_scalars();
    find_decision();
    if (!scalars_fit()) {
      is_scalar_.assign(op_.operands.size(), false);
      decide_by_tensors();
    }
    Loop loop{.entry = entry(),
              .condition = {},
              .test = test(),
              .body = {},
              .step = step(),
              .origin = origin_};
    store_words(loop);
    add_arguments();
    const InLoop in_loop{changing(), superstep_};
    if (loop.has_condition()) {
      loop.condition = lower_region(block_, condition_, {arguments_, decisive_}, &in_loop);
    }
    RegionBuffers body{arguments_, arguments_};
    body.results.resize(op_.results.size());
    for (std::size_t i = 0; i < body.results.size(); ++i) {
      if (!changes(i) || is_scalar_[i]) body.results[i].reset();
    }
    loop.body = lower_region(block_, body_, body, &in_loop);
    superstep_ = block_.builder.add_control(superstep_, std::move(loop));
    for (std::size_t i = 0; i < op_.results.size(); ++i) {
      if (!changes(i)) {
        values().set_same(op_.results[i], op_.operands[i]);
      } else if (arguments_[i]) {
        values().set_stored(op_.results[i], *arguments_[i], {superstep_, 0});
      }
    }
  }

 private:
  [[nodiscard]] Values& values() const { return block_.values; }
  [[nodiscard]] LayoutPtr everywhere() const { return block_.builder.layouts().everywhere(); }

  [[nodiscard]] bool changes(std::size_t i) const {
    return i < op_.results.size() && body_.results()[i] != body_.arguments()[i];
  }
  /// Whether the regions know operand `i` as a word or boolean that each tile has.
  [[nodiscard]] bool is_known(std::size_t i) const {
    return is_scalar(values().type(op_.operands[i])) && (is_scalar_[i] || !changes(i));
  }
  /// The argument of a region that a value is, if it is one.
  [[nodiscard]] static std::optional<std::size_t> argument(const Graph& region, ValueId v) {
    const auto at = std::ranges::find(region.arguments(), v);
    if (at == region.arguments().end()) return std::nullopt;
    return static_cast<std::size_t>(at - region.arguments().begin());
  }
  [[nodiscard]] ScalarSlice slice_of(const Graph& region) const {
    return {region, [&](ValueId v) {
              const auto i = argument(region, v);
              return i && is_known(*i);
            }};
  }

  /// What follows from other carried words may cease to when one of those does not follow.
  void find_scalars() {
    is_scalar_.resize(op_.operands.size());
    for (std::size_t i = 0; i < is_scalar_.size(); ++i) {
      is_scalar_[i] = changes(i) && is_scalar(values().type(op_.operands[i]));
    }
    for (bool settled = false; !settled;) {
      settled = true;
      ScalarSlice slice = slice_of(body_);
      for (std::size_t i = 0; i < is_scalar_.size(); ++i) {
        if (!is_scalar_[i]) continue;
        const auto words = slice.words_for(body_.results()[i]);
        is_scalar_[i] = words && words->empty();
        settled = settled && is_scalar_[i];
      }
    }
  }

  void find_decision() {
    decision_ = condition_.results()[0];
    // What visits the host is executed each time, whatever is known of the decision.
    const bool visits = std::ranges::any_of(condition_.ops(), has_effect);
    const auto words = slice_of(condition_).words_for(decision_);
    if (!words || visits) return decide_by_tensors();
    condition_.set_results(*words);
  }

  /// By the condition's result as a word.
  void decide_by_tensors() {
    GraphBuilder builder(condition_, op_.location);
    decision_ = convert(builder.value(decision_), DType::kU32).id;
    condition_.set_results({decision_});
  }

  // Words of scalars have these numbers until it is known of which ones there are buffers: operands
  // in the loop, operands in front of it, then results of the condition.
  [[nodiscard]] BufferId in_loop(std::size_t i) const { return number(0, i); }
  [[nodiscard]] BufferId in_front(std::size_t i) const { return number(1, i); }
  [[nodiscard]] BufferId decisive(std::size_t i) const { return number(2, i); }
  [[nodiscard]] BufferId number(std::size_t kind, std::size_t i) const {
    return BufferId{static_cast<std::uint32_t>(kind * op_.operands.size() + i)};
  }

  /// Operand `i` as it comes into the loop.
  [[nodiscard]] vertex::Node initial(vertex::Scalars& scalars, std::size_t i) const {
    const DType dtype = values().type(op_.operands[i]).dtype;
    const auto bits = values().repeated_bits(op_.operands[i]);
    return bits ? scalars.expression.constant(dtype, *bits) : scalars.input(in_front(i), dtype);
  }
  /// Operand `i` in the loop.
  [[nodiscard]] vertex::Node current(vertex::Scalars& scalars, std::size_t i) const {
    if (!is_scalar_[i]) return initial(scalars, i);
    return scalars.input(in_loop(i), values().type(op_.operands[i]).dtype);
  }

  /// Appends the condition's decision, if it needs nothing but the arguments, which `known` has.
  template <class Known>
  void decide(vertex::Scalars& scalars, const Known& known) const {
    if (!condition_.results().empty()) return;
    ScalarNodes nodes(condition_, scalars, [&](ValueId v) -> std::optional<vertex::Node> {
      const auto i = argument(condition_, v);
      return i ? std::optional(known(*i)) : std::nullopt;
    });
    scalars.decision = nodes.of(decision_);
  }

  [[nodiscard]] vertex::Scalars entry() const {
    vertex::Scalars scalars;
    std::map<std::size_t, vertex::Node> first;
    for (std::size_t i = 0; i < is_scalar_.size(); ++i) {
      if (!is_scalar_[i]) continue;
      first[i] = initial(scalars, i);
      scalars.stores.push_back({in_loop(i), first[i]});
    }
    decide(scalars,
           [&](std::size_t i) { return is_scalar_[i] ? first.at(i) : initial(scalars, i); });
    return scalars;
  }

  [[nodiscard]] vertex::Scalars step() const {
    vertex::Scalars scalars;
    std::map<std::size_t, vertex::Node> now, next;
    const auto current_of = [&](std::size_t i) {
      if (!now.contains(i)) now[i] = current(scalars, i);
      return now[i];
    };
    ScalarNodes nodes(body_, scalars, [&](ValueId v) -> std::optional<vertex::Node> {
      const auto i = argument(body_, v);
      return i ? std::optional(current_of(*i)) : std::nullopt;
    });
    for (std::size_t i = 0; i < is_scalar_.size(); ++i) {
      if (!is_scalar_[i]) continue;
      next[i] = nodes.of(body_.results()[i]);
      scalars.stores.push_back({in_loop(i), next[i]});
    }
    decide(scalars, [&](std::size_t i) { return is_scalar_[i] ? next.at(i) : current_of(i); });
    return scalars;
  }

  /// The decision, if the condition computes something for it.
  [[nodiscard]] vertex::Scalars test() const {
    vertex::Scalars scalars;
    if (condition_.results().empty()) return scalars;
    ScalarNodes nodes(condition_, scalars, [&](ValueId v) -> std::optional<vertex::Node> {
      const std::vector<ValueId>& words = condition_.results();
      const auto word = std::ranges::find(words, v);
      if (word != words.end()) {
        return scalars.input(decisive(static_cast<std::size_t>(word - words.begin())),
                             condition_.type(v).dtype);
      }
      const auto i = argument(condition_, v);
      return i ? std::optional(current(scalars, *i)) : std::nullopt;
    });
    scalars.decision = nodes.of(decision_);
    return scalars;
  }

  [[nodiscard]] bool scalars_fit() const {
    return scalar_code(entry(), supervisor::kScalars) &&
           scalar_code(test(), supervisor::kScalars) && scalar_code(step(), supervisor::kScalars);
  }

  /// Puts buffers in the place of numbers.
  void store_words(Loop& loop) {
    std::map<BufferId, BufferId> buffers;
    const std::size_t operands = op_.operands.size();
    arguments_.resize(operands);
    for (std::size_t i = 0; i < operands; ++i) {
      if (!is_scalar_[i]) continue;
      arguments_[i] = values().add_storage(op_.results[i], everywhere());
      buffers[in_loop(i)] = *arguments_[i];
    }
    for (std::size_t i = 0; i < condition_.results().size(); ++i) {
      const DType dtype = condition_.type(condition_.results()[i]).dtype;
      decisive_.emplace_back(
          values().add_temporary(dtype, everywhere(), origin_.name + ".condition", origin_.source));
      buffers[decisive(i)] = *decisive_.back();
    }
    const auto buffer = [&](BufferId word) {
      const auto [at, is_new] = buffers.try_emplace(word, BufferId{});
      if (is_new) {
        const StoredValue stored =
            values().stored(op_.operands[index(word) - operands], everywhere(), origin_);
        superstep_ = std::max(superstep_, stored.time.superstep + 1);
        at->second = stored.buffer;
      }
      return at->second;
    };
    for (vertex::Scalars* scalars : {&loop.entry, &loop.test, &loop.step}) {
      for (BufferId& input : scalars->inputs) input = buffer(input);
      for (vertex::Scalars::Store& store : scalars->stores) store.to = buffer(store.to);
    }
  }

  [[nodiscard]] std::set<BufferId> changing() const {
    std::set<BufferId> buffers;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i] && changes(i)) buffers.insert(*arguments_[i]);
    }
    return buffers;
  }

  void add_arguments() {
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      const ValueId operand = op_.operands[i];
      if (is_scalar_[i] || values().elements(operand) == 0) continue;
      StoredValue stored{values().stored(operand), {}};
      stored.time = values().time(operand);
      if (changes(i)) {
        const ValueId result = op_.results[i];
        const BufferId carried = values().add_storage(result, values().assigned().of(result));
        stored = values().stored(operand, block_.builder.buffer(carried).layout, origin_);
        stored.time = stored.time.next_round();
        copy_elements(block_.builder, stored.buffer, carried, stored.time);
        stored.buffer = carried;
      }
      arguments_[i] = stored.buffer;
      superstep_ = std::max(superstep_, stored.time.superstep + 1);
    }
  }

  BlockLowering& block_;
  const Op& op_;
  Origin origin_;
  Graph condition_;  ///< its results are the words that the decision needs of it
  const Graph& body_;
  ValueId decision_{};           ///< of the condition
  std::vector<bool> is_scalar_;  ///< by operand
  std::vector<std::optional<BufferId>> arguments_;
  std::vector<std::optional<BufferId>> decisive_;  ///< by result of the condition
  std::uint32_t superstep_ = 0;
};

}  // namespace

void lower_while(BlockLowering& block, const Op& op) { LoopLowering(block, op).run(); }

}  // namespace superstep
