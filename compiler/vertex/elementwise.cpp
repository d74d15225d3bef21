#include "compiler/vertex/elementwise.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "compiler/vertex/pair_loop.h"

namespace superstep::vertex {
namespace {

std::vector<DType> input_dtypes(const Expression& expression, std::size_t inputs) {
  std::vector<DType> dtypes(inputs, DType::kF32);
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput) dtypes.at(step.bits) = step.dtype;
  }
  return dtypes;
}

/// Without what the general loop makes no use of.
std::vector<Access> unaligned(std::vector<Access> inputs) {
  for (Access& access : inputs) {
    if (is_cyclic(access)) access = Access::kCyclic;
    if (is_stretched(access)) access = Access::kStretched;
  }
  return inputs;
}

/// The general loop: each turn of a worker makes the elements of one word of the narrowest output,
/// or two elements of four bytes. Where that were much code a turn makes one element, and those
/// that are narrower than a word are put into theirs; a worker's share is whole words as well.
class ScalarLoop {
 public:
  /// With `by_repeat` the loop is an `rpt`, which not every body can be.
  ScalarLoop(WorkerCode& code, const Expression& expression, const std::vector<Node>& outputs,
             const std::vector<Access>& inputs, bool by_repeat)
      : code_(code),
        expression_(expression),
        outputs_(outputs),
        inputs_(unaligned(inputs)),
        dtypes_(input_dtypes(expression, inputs.size())),
        by_repeat_(by_repeat) {
    for (const Node output : outputs)
      lanes_ = std::max(lanes_, 4 / bytes_of(expression.dtype(output)));
    per_word_ = lanes_;
    if (expression.steps().size() > (lanes_ == 4 ? kManyStepsOfBytes : kManyStepsOfHalves))
      lanes_ = 1;
    if (lanes_ == 1 && expression.steps().size() <= kFewSteps) lanes_ = per_word_ = 2;
    const auto wide = [](DType dtype) { return size_of(dtype) == 4; };
    has_upper_ = lanes_ == 4;
    bool any_wide = false;
    for (const Node output : outputs) any_wide = any_wide || wide(expression.dtype(output));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      any_wide = any_wide || (inputs[i] == Access::kVector && wide(dtypes_[i]));
    has_upper_ = lanes_ == 4 && any_wide;
  }

  [[nodiscard]] bool can_repeat() const {
    const MachineConfig::Tile& tile = code_.machine().tile;
    return !has_upper_ && !expression_.has_branches() &&
           std::none_of(inputs_.begin(), inputs_.end(),
                        [](Access access) { return state_words(access) == 3; }) &&
           tile.memory_bytes / lanes_ / tile.workers <= 65535;
  }

  [[nodiscard]] ElementwiseDivision division() const {
    std::vector<DType> outputs;
    for (const Node output : outputs_) outputs.push_back(expression_.dtype(output));
    return {code_.machine().tile.workers,
            per_word_,
            by_repeat_ ? Count::kTurns : Count::kMoreTurns,
            has_upper_,
            outputs,
            dtypes_,
            inputs_,
            code_.machine().tile.memory_base,
            per_word_ != lanes_};
  }

  void emit() {
    const Label done = code_.label(), loop = code_.label();
    code_.begin_prologue();
    const Reg count = state(0);
    if (!by_repeat_) code_.branch("brneg", {count}, done);
    std::size_t word = 1;
    Reg tail;
    if (has_upper_) tail = state(word++);
    for (std::size_t i = 0; i < outputs_.size(); ++i) to_.push_back(state(word++));
    for (std::size_t i = 0; i < inputs_.size(); word += worker_words(inputs_[i++]))
      load_input(static_cast<std::uint32_t>(i), word);
    make_offsets();
    const Reg beyond = has_upper_ ? code_.constant(File::kM, 8) : Reg{};
    code_.end_prologue();

    Lane lane(code_, expression_, inputs_, [&](std::uint32_t input, Form form) {
      return load_element(code_, dtypes_[input], form, from_[input], "$mzero", 0);
    });
    if (by_repeat_) code_.begin_repeat(count);
    if (!by_repeat_) code_.place(loop);
    if (has_upper_) {
      // The last turn may have one or two elements only; its other lanes then repeat them, so that
      // no address is beyond the padding.
      code_.emit("movz", {both(beyond), count, tail});
      code_.emit("add", {def(upper_), offsets_[4], beyond});
    }
    std::vector<std::vector<Reg>> repeated(lanes_);
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      for (const Repeated& r : repeated_) repeated[k].push_back(next(r));
    }
    std::vector<std::vector<Reg>> words(outputs_.size());
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      lane.begin([&](std::uint32_t input, Form form) {
        const auto [delta, index] = displacement(bytes_of(dtypes_[input]), k);
        return load_element(code_, dtypes_[input], form, from_[input], delta, index);
      });
      for (std::size_t i = 0; i < repeated_.size(); ++i)
        lane.provide(repeated_[i].input, repeated_[i].form, repeated[k][i]);
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        words[i].push_back(stored_form(lane, outputs_[i]));
    }
    // Everything is loaded before anything is stored: an output may lie over an input.
    for (std::size_t i = 0; i < outputs_.size(); ++i) store(i, words[i]);
    for (const std::uint32_t size : {1U, 2U, 4U}) {
      if (offsets_[size].valid())
        code_.emit("add", {def(offsets_[size]), offsets_[size], size * lanes_});
    }
    if (!by_repeat_) code_.branch("brnzdec", {both(count)}, loop);
    if (by_repeat_) code_.end_repeat();
    code_.place(done);
    code_.exit();
  }

  std::optional<Codelet> finish() {
    auto codelet = code_.try_finish(by_repeat_ ? "elementwise_repeat" : "elementwise");
    if (!codelet) return std::nullopt;
    codelet->divide = [division = division()](std::span<const std::uint32_t> words, std::uint32_t) {
      return division(words);
    };
    return codelet;
  }

 private:
  struct Repeated {
    std::uint32_t input;
    Form form;
    std::size_t word;  ///< of the worker's state
    Reg pointer, left, value;
  };
  /// Steps up to which two elements of four bytes are made in a turn: more need more registers than
  /// there are [chosen by bench/fit_by_builds.py on 24 generated chains of elementwise ops on bow
  /// and small64. Device cycles are above the least of seven values by 0.51 % on average with 0,
  /// 0.27 % with 4, 0.20 % with 8, 0.90 % with 16 and 1.45 % with 24].
  static constexpr std::size_t kFewSteps = 8;
  /// Steps beyond which a turn makes one element, of one byte and of two [assumed: putting it into
  /// its word takes some ten instructions].
  static constexpr std::size_t kManyStepsOfBytes = 32, kManyStepsOfHalves = 256;

  [[nodiscard]] Reg state(std::size_t word) const {
    return code_.m("ld32", {"$mvertex_base", "$mzero", static_cast<std::uint32_t>(word)});
  }

  void load_input(std::uint32_t input, std::size_t word) {
    from_.push_back(state(word));
    if (state_words(inputs_[input]) != 3) return;
    const Form form =
        loadable(dtypes_[input],
                 is_float(dtypes_[input]) || only_converted(input) ? Form::kArith : Form::kMain);
    Repeated r{input, form, word, from_[input], state(word + 1), {}};
    if (inputs_[input] == Access::kStretched)
      r.value = load_stepping(code_, dtypes_[input], form, r.pointer);
    repeated_.push_back(r);
  }

  // Integers that only become floats are loaded where they do so.
  [[nodiscard]] bool only_converted(std::uint32_t input) const {
    const auto& steps = expression_.steps();
    const auto is_input = [&](std::uint32_t n) {
      return steps[n].primitive == Primitive::kInput && steps[n].bits == input;
    };
    for (const Expression::Step& step : steps) {
      const bool converts = step.primitive == Primitive::kConvert && is_float(step.dtype);
      for (const std::uint32_t operand : step.operands) {
        if (is_input(operand) && !converts) return false;
      }
    }
    return std::none_of(outputs_.begin(), outputs_.end(), [&](Node n) { return is_input(n.id); });
  }

  // The next element of an input that repeats.
  Reg next(const Repeated& r) {
    const Label same = code_.label();
    const auto reload = [&](Reg reg, std::size_t offset) {
      code_.emit("ld32", {def(reg), "$mvertex_base", "$mzero",
                          static_cast<std::uint32_t>(r.word + offset)});
    };
    if (r.value.valid()) {
      const Reg value = code_.fresh(r.value.file);
      code_.branch("brnzdec", {both(r.left)}, same);
      load_stepping(code_, dtypes_[r.input], r.form, r.pointer, r.value);
      reload(r.left, 2);
      code_.place(same);
      code_.move(value, r.value);
      return value;
    }
    const Reg value = load_stepping(code_, dtypes_[r.input], r.form, r.pointer);
    code_.branch("brnzdec", {both(r.left)}, same);
    reload(r.pointer, 2);
    reload(r.left, 3);
    code_.place(same);
    return value;
  }

  struct Displacement {
    Arg delta, index;
  };

  void make_offsets() {
    std::vector<std::uint32_t> sizes;
    for (const Node output : outputs_) sizes.push_back(bytes_of(expression_.dtype(output)));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] == Access::kVector) sizes.push_back(bytes_of(dtypes_[i]));
    }
    for (const std::uint32_t size : sizes) {
      if (!offsets_[size].valid()) offsets_[size] = code_.constant(File::kM, 0);
    }
    if (has_upper_) upper_ = code_.fresh(File::kM);
  }

  [[nodiscard]] Displacement displacement(std::uint32_t size, std::uint32_t k) const {
    if (size == 4 && upper_.valid() && k >= 2) return {upper_, k - 2};
    return {offsets_[size], k};
  }

  [[nodiscard]] Reg stored_form(Lane& lane, Node output) const {
    const DType dtype = expression_.dtype(output);
    if (is_short_float(dtype)) return lane.value(output.id, half_form(lane, output.id));
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
    return low.file == File::kM ? code_.m(name, {low, high}) : code_.a(name, {low, high});
  }

  void store(std::size_t i, const std::vector<Reg>& elements) {
    const std::uint32_t size = bytes_of(expression_.dtype(outputs_[i]));
    if (size == 4) {
      // From the last to the first: repeated elements are overwritten by their own.
      for (std::uint32_t k = lanes_; k-- > 0;) {
        const auto [delta, index] = displacement(size, k);
        code_.emit("st32", {elements[k], to_[i], delta, index});
      }
      return;
    }
    if (lanes_ == 1) return store_in_word(to_[i], size, elements[0]);
    for (std::uint32_t k = 0; k < lanes_; k += 4 / size) {
      Reg word = joined("sort4x16lo", elements[k], elements[k + 1]);
      if (size == 1)
        word = joined("sort8x8lo", word, joined("sort4x16lo", elements[k + 2], elements[k + 3]));
      code_.emit("st32", {word, to_[i], offsets_[size], k * size / 4});
    }
  }

  // The other elements of its word stay: they may be inputs that are not read yet.
  void store_in_word(Reg to, std::uint32_t size, Reg element) {
    const Reg offset = offsets_[size];
    const Reg shift = code_.m("shl", {code_.m("and", {offset, 3}), 3});
    const Reg at = code_.m("sub", {offset, code_.m("and", {offset, 3})});
    const Reg mask = code_.m("shl", {code_.constant(File::kM, size == 1 ? 0xff : 0xffff), shift});
    const Reg before = code_.m("ld32", {to, at, 0});
    const Reg shifted =
        code_.m("shl", {element.file == File::kM ? element : code_.to_m(element), shift});
    const Reg changed = code_.m("and", {code_.m("xor", {before, shifted}), mask});
    code_.emit("st32", {code_.m("xor", {before, changed}), to, at, 0});
  }

  WorkerCode& code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  std::vector<Access> inputs_;
  std::vector<DType> dtypes_;
  std::uint32_t lanes_ = 1;     ///< elements that a turn makes
  std::uint32_t per_word_ = 1;  ///< of the narrowest output, or of a turn
  bool by_repeat_, has_upper_ = false;
  std::vector<Reg> to_, from_;
  std::vector<Repeated> repeated_;
  Reg offsets_[5];  ///< of the turn's first element in bytes, by element size
  Reg upper_;       ///< of the third element of four, in bytes, where elements have four bytes
  mutable std::map<std::uint32_t, Form> half_forms_;
};

}  // namespace

Codelet elementwise(const MachineConfig& machine, const Expression& expression,
                    const std::vector<Node>& outputs, const std::vector<Access>& inputs) {
  SUPERSTEP_CHECK(!outputs.empty(), "an elementwise vertex has an output");
  if (auto fast = elementwise_in_pairs(machine, expression, outputs, inputs))
    return *std::move(fast);
  for (const bool by_repeat : {true, false}) {
    WorkerCode code(machine);
    ScalarLoop loop(code, expression, outputs, inputs, by_repeat);
    if (by_repeat && !loop.can_repeat()) continue;
    loop.emit();
    if (auto codelet = loop.finish()) return *std::move(codelet);
  }
  SUPERSTEP_CHECK(false, "registers of an elementwise vertex");
  return {};
}

std::vector<std::uint32_t> place(const Codelet& codelet, std::uint32_t address) {
  std::vector<std::uint32_t> words = codelet.words;
  for (const std::uint32_t index : codelet.relocations) words.at(index) += address / 4;
  return words;
}

}  // namespace superstep::vertex
