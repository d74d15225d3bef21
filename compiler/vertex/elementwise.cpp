#include <algorithm>
#include <map>

#include "base/error.h"
#include "compiler/vertex/pair_loop.h"

namespace superstep::vertex {
namespace {

std::uint32_t bytes_of(DType dtype) { return static_cast<std::uint32_t>(size_of(dtype)); }

std::vector<DType> input_dtypes(const Expression& expression, std::size_t inputs) {
  std::vector<DType> dtypes(inputs, DType::kF32);
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput) dtypes.at(step.bits) = step.dtype;
  }
  return dtypes;
}

/// The general loop: each turn of a worker makes the elements of one word of the narrowest output.
/// Workers take turns round robin.
class ScalarLoop {
 public:
  ScalarLoop(WorkerCode& code, const Expression& expression, const std::vector<Node>& outputs,
             const std::vector<Access>& inputs)
      : code_(code),
        expression_(expression),
        outputs_(outputs),
        inputs_(inputs),
        dtypes_(input_dtypes(expression, inputs.size())) {
    for (const Node output : outputs)
      lanes_ = std::max(lanes_, 4 / bytes_of(expression.dtype(output)));
  }

  [[nodiscard]] std::uint32_t lanes() const { return lanes_; }

  void emit() {
    const auto state = [&](std::size_t word) {
      return code_.m("ld32", {"$mvertex_base", "$mzero", static_cast<std::uint32_t>(word)});
    };
    const Label done = code_.label(), loop = code_.label();
    code_.begin_prologue();
    const Reg n = state(0);
    element_ = code_.m("mul", {code_.worker_id(), lanes_});
    code_.branch("brz", {code_.m("cmpult", {element_, n})}, done);
    code_.mark();
    for (std::size_t i = 0; i < outputs_.size(); ++i) to_.push_back(state(1 + i));
    std::size_t word = 1 + outputs_.size();
    for (const Access access : inputs_) {
      from_.push_back(state(word));
      const bool repeats = state_words(access) == 3;
      starts_.push_back(repeats ? state(word + 1) : Reg{});
      periods_.push_back(repeats ? state(word + 2) : Reg{});
      word += state_words(access);
    }
    make_offsets();
    code_.end_prologue();

    Lane lane(code_, expression_, inputs_, [&](std::uint32_t input, Form form) {
      return load_element(code_, dtypes_[input], form, from_[input], "$mzero", 0);
    });
    code_.mark();
    code_.place(loop);
    if (upper_.valid()) {
      // The last turn may have one or two elements only; its other lanes then repeat them, so that
      // no address is beyond the padding.
      const Reg third = code_.m("add", {element_, 2});
      code_.emit("shl", {def(upper_), code_.m("cmpult", {third, n}), 3});
      code_.emit("add", {def(upper_), upper_, offset(4)});
    }
    std::vector<std::vector<Reg>> words(outputs_.size());
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      lane.begin([&](std::uint32_t input, Form form) {
        if (starts_[input].valid()) return load_repeated(input, form, k);
        const auto [delta, index] = place(bytes_of(dtypes_[input]), k);
        return load_element(code_, dtypes_[input], form, from_[input], delta, index);
      });
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        words[i].push_back(stored_form(lane, outputs_[i]));
    }
    // Everything is loaded before anything is stored: an output may lie over an input.
    for (std::size_t i = 0; i < outputs_.size(); ++i) store(i, words[i]);
    code_.emit("add", {def(element_), element_, lanes_ * code_.machine().tile.workers});
    for (const std::uint32_t size : {1U, 2U, 4U}) {
      if (offsets_[size].valid() && offsets_[size].id != element_.id) {
        code_.emit("add", {def(offsets_[size]), offsets_[size],
                           size * lanes_ * code_.machine().tile.workers});
      }
    }
    code_.branch("brnz", {code_.m("cmpult", {element_, n})}, loop);
    code_.mark();
    code_.place(done);
    code_.exit();
  }

 private:
  struct Place {
    Arg delta, index;
  };

  [[nodiscard]] Reg offset(std::uint32_t size) const { return offsets_[size]; }

  void make_offsets() {
    std::vector<std::uint32_t> sizes;
    for (const Node output : outputs_) sizes.push_back(bytes_of(expression_.dtype(output)));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] == Access::kVector) sizes.push_back(bytes_of(dtypes_[i]));
    }
    for (const std::uint32_t size : sizes) {
      if (offsets_[size].valid()) continue;
      offsets_[size] = size == 1 ? element_ : code_.m("shl", {element_, size == 2 ? 1 : 2});
    }
    if (lanes_ == 4 && offsets_[4].valid()) upper_ = code_.fresh(File::kM);
  }

  [[nodiscard]] Place place(std::uint32_t size, std::uint32_t k) const {
    if (size == 4 && upper_.valid() && k >= 2) return {upper_, k - 2};
    return {offsets_[size], k};
  }

  [[nodiscard]] Reg load_repeated(std::uint32_t input, Form form, std::uint32_t k) const {
    const Reg position = code_.m("add", {code_.m("add", {starts_[input], element_}), k});
    const Division place = divide_small(code_, position, periods_[input]);
    const Reg index = inputs_[input] == Access::kCyclic ? place.remainder : place.quotient;
    const std::uint32_t size = bytes_of(dtypes_[input]);
    const Reg offset = size == 1 ? index : code_.m("shl", {index, size == 2 ? 1 : 2});
    return load_element(code_, dtypes_[input], form, from_[input], offset, 0);
  }

  [[nodiscard]] Reg stored_form(Lane& lane, Node output) const {
    const DType dtype = expression_.dtype(output);
    if (dtype == DType::kF16) return lane.value(output.id, half_form(lane, output.id));
    if (size_of(dtype) < 4) return lane.main(output.id);
    return lane.any_word(output.id);
  }

  // All lanes of an output have to be in one register file: that of the first.
  Form half_form(Lane& lane, std::uint32_t node) const {
    const auto known = half_forms_.find(node);
    if (known != half_forms_.end()) return known->second;
    lane.ensure(node);
    return half_forms_[node] = lane.has(node, Form::kMain) ? Form::kMain : Form::kHalf;
  }

  // Sorting permutations take the lower parts of two registers: `sort4x16lo` of halves, `sort8x8lo`
  // the even bytes.
  [[nodiscard]] Reg joined(const char* name, Reg low, Reg high) const {
    return code_.file(low) == File::kM ? code_.m(name, {low, high}) : code_.a(name, {low, high});
  }

  void store(std::size_t i, const std::vector<Reg>& elements) {
    const std::uint32_t size = bytes_of(expression_.dtype(outputs_[i]));
    if (size == 4) {
      // From the last to the first: repeated elements are overwritten by their own.
      for (std::uint32_t k = lanes_; k-- > 0;) {
        const auto [delta, index] = place(size, k);
        code_.emit("st32", {elements[k], to_[i], delta, index});
      }
      return;
    }
    for (std::uint32_t k = 0; k < lanes_; k += 4 / size) {
      Reg word = joined("sort4x16lo", elements[k], elements[k + 1]);
      if (size == 1)
        word = joined("sort8x8lo", word, joined("sort4x16lo", elements[k + 2], elements[k + 3]));
      code_.emit("st32", {word, to_[i], offsets_[size], k * size / 4});
    }
  }

  WorkerCode& code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  const std::vector<Access>& inputs_;
  std::vector<DType> dtypes_;
  std::uint32_t lanes_ = 1;
  std::vector<Reg> to_, from_, starts_, periods_;
  Reg element_;     ///< first of the turn
  Reg offsets_[5];  ///< of the turn's first element in bytes, by element size
  Reg upper_;       ///< of the third element of four, in bytes, where elements have four bytes
  mutable std::map<std::uint32_t, Form> half_forms_;
};

TimedCodelet timed_elementwise(const MachineConfig& machine, const Expression& expression,
                               const std::vector<Node>& outputs,
                               const std::vector<Access>& inputs) {
  SUPERSTEP_CHECK(!outputs.empty(), "an elementwise vertex has an output");
  if (auto fast = elementwise_in_pairs(machine, expression, outputs, inputs))
    return *std::move(fast);
  WorkerCode code(machine);
  ScalarLoop loop(code, expression, outputs, inputs);
  loop.emit();
  TimedCodelet result{code.finish("elementwise"), loop.lanes()};
  const auto& slots = code.marked_slots();
  result.idle_slots = slots[0] + 1;
  result.turn_slots = slots[2] - slots[1];
  result.fixed_slots = slots[3] - result.turn_slots;
  return result;
}

}  // namespace

Codelet elementwise(const MachineConfig& machine, const Expression& expression,
                    const std::vector<Node>& outputs, const std::vector<Access>& inputs) {
  return timed_elementwise(machine, expression, outputs, inputs).codelet;
}

std::uint64_t estimate_elementwise(const MachineConfig& machine, const Expression& expression,
                                   const std::vector<Node>& outputs,
                                   const std::vector<Access>& inputs, std::uint64_t elements) {
  const TimedCodelet timed = timed_elementwise(machine, expression, outputs, inputs);
  const std::uint32_t workers = machine.tile.workers;
  const std::uint64_t all_turns =
      (elements + timed.elements_per_turn - 1) / timed.elements_per_turn;
  std::uint64_t last = 0;
  for (std::uint64_t w = 0; w < workers; ++w) {
    const std::uint64_t turns = w < all_turns ? (all_turns - w - 1) / workers + 1 : 0;
    const std::uint64_t slots =
        turns == 0 ? timed.idle_slots : timed.fixed_slots + turns * timed.turn_slots;
    last = std::max(last, machine.costs.runall + w + slots * workers);
  }
  return last;
}

std::uint64_t estimate_elementwise(const MachineConfig& machine, const Expression& expression,
                                   std::uint64_t elements) {
  const auto last = static_cast<std::uint32_t>(expression.steps().size() - 1);
  std::uint32_t inputs = 0;
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput)
      inputs = std::max(inputs, static_cast<std::uint32_t>(step.bits) + 1);
  }
  return estimate_elementwise(machine, expression, {Node{last}},
                              std::vector<Access>(inputs, Access::kVector), elements);
}

std::vector<std::uint32_t> place(const Codelet& codelet, std::uint32_t address) {
  std::vector<std::uint32_t> words = codelet.words;
  for (const std::uint32_t index : codelet.relocations) words.at(index) += address / 4;
  return words;
}

}  // namespace superstep::vertex
