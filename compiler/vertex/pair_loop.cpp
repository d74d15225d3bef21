#include "compiler/vertex/pair_loop.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/vertex/vector_arithmetic.h"

namespace superstep::vertex {
namespace {

bool touches(const Instruction& instruction, Reg reg, bool write) {
  return std::any_of(instruction.args.begin(), instruction.args.end(), [&](const Arg& arg) {
    if (!arg.is_virtual() || arg.reg.id != reg.id) return false;
    return write ? arg.kind != Arg::Kind::kUse : arg.kind != Arg::Kind::kDef;
  });
}

/// Places for loads of the next turn and stores of this one beside the arithmetic of this one.
struct Schedule {
  std::vector<int> load_slots, store_slots;
  std::size_t slots = 0;
};

// A load may overwrite its register in the slot of the last use; a store follows the slot that
// makes its value.
Schedule schedule(const std::vector<Instruction>& arithmetic, const std::vector<Reg>& loaded,
                  const std::vector<Reg>& stored) {
  const auto last = [&](Reg reg, bool write) {
    int slot = -1;
    for (std::size_t t = 0; t < arithmetic.size(); ++t) {
      if (touches(arithmetic[t], reg, write)) slot = static_cast<int>(t);
    }
    return slot;
  };
  struct Access {
    int earliest;
    bool load;
    std::size_t index;
  };
  std::vector<Access> accesses;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    int earliest = std::max(last(loaded[i], false), 0);
    // An input that is also an output is stored before the next one comes.
    for (const Reg reg : stored) {
      if (reg.id == loaded[i].id) earliest = std::max(earliest, static_cast<int>(stored.size()));
    }
    accesses.push_back({earliest, true, i});
  }
  for (std::size_t i = 0; i < stored.size(); ++i)
    accesses.push_back({last(stored[i], true) + 1, false, i});
  std::stable_sort(accesses.begin(), accesses.end(),
                   [](const Access& a, const Access& b) { return a.earliest < b.earliest; });
  Schedule result;
  result.load_slots.resize(loaded.size());
  result.store_slots.resize(stored.size());
  int slot = 0;
  for (const Access& access : accesses) {
    slot = std::max(slot, access.earliest);
    (access.load ? result.load_slots : result.store_slots)[access.index] = slot++;
  }
  result.slots = std::max(arithmetic.size(), static_cast<std::size_t>(slot));
  return result;
}

std::vector<DType> input_dtypes(const Expression& expression, std::size_t inputs) {
  std::vector<DType> dtypes(inputs, DType::kF32);
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput) dtypes.at(step.bits) = step.dtype;
  }
  return dtypes;
}

class PairLoop {
 public:
  PairLoop(const MachineConfig& machine, const Expression& expression,
           const std::vector<Node>& outputs, const std::vector<Access>& inputs)
      : code_(machine),
        expression_(expression),
        outputs_(outputs),
        inputs_(inputs),
        dtypes_(input_dtypes(expression, inputs.size())),
        lane_(code_, expression, inputs,
              [&](std::uint32_t input, Form form) {
                return load_element(code_, dtypes_[input], form, state(first_word(input)), "$mzero",
                                    0);
              }),
        arithmetic_(code_, expression, outputs, lane_),
        lanes_(arithmetic_.elements_per_turn()) {
    // Whether the last turn may have fewer elements than a pair of parts.
    for (const Node output : outputs)
      has_tail_ = has_tail_ || arithmetic_.parts(expression.dtype(output)) == 2;
  }

  /// With `by_repeat` the loop is an `rpt` where it can be: its constants are in registers then.
  std::optional<Codelet> make(bool by_repeat) {
    const MachineConfig::Tile& tile = code_.machine().tile;
    if (!arithmetic_.is_possible() || tile.memory_bytes / 8 / tile.workers > 65535)
      return std::nullopt;
    const Label done = code_.label();
    code_.begin_prologue();
    more_ = state(0);
    code_.branch("brneg", {more_}, done);
    if (has_tail_) tail_ = state(1);
    code_.end_prologue();
    load_pointers();
    for (std::size_t i = 0; i < outputs_.size(); ++i) add_stores(i);
    if (loaded_.empty() && repeated_.empty()) return std::nullopt;
    if (by_repeat && repeated_.empty() && !expression_.has_branches()) {
      emit_pipelined();
    } else {
      emit_turns();
    }
    code_.place(done);
    code_.exit();
    auto codelet = code_.try_finish("elementwise_pairs");
    if (!codelet) return std::nullopt;
    codelet->divide = [division = division()](std::span<const std::uint32_t> words, std::uint32_t) {
      return division(words);
    };
    return codelet;
  }

 private:
  /// A pair that goes to or from memory in each turn, at its own pointer.
  struct Stream {
    Reg pair, pointer;
    std::uint32_t stride = 1;  ///< pairs from turn to turn
  };
  struct Repeated {
    std::uint32_t input;
    std::vector<Reg> pairs;  ///< the parts
    Reg pointer, left;
    Reg value;    ///< where it is stretched: of the last element
    Reg element;  ///< where it is an f16: the last element
  };

  [[nodiscard]] ElementwiseDivision division() const {
    std::vector<DType> outputs;
    for (const Node output : outputs_) outputs.push_back(expression_.dtype(output));
    return {
        code_.machine().tile.workers, lanes_,  Count::kMoreTurns, has_tail_,
        std::move(outputs),           dtypes_, inputs_,           code_.machine().tile.memory_base};
  }

  Reg state(std::size_t word) {
    return code_.m("ld32", {"$mvertex_base", "$mzero", static_cast<std::uint32_t>(word)});
  }
  [[nodiscard]] std::uint32_t first_output() const { return has_tail_ ? 2 : 1; }
  [[nodiscard]] std::uint32_t first_word(std::uint32_t input) const {
    auto word = static_cast<std::uint32_t>(first_output() + outputs_.size());
    for (std::uint32_t i = 0; i < input; ++i) word += worker_words(inputs_[i]);
    return word;
  }

  void load_pointers() {
    const auto& steps = expression_.steps();
    std::vector<std::vector<Reg>> pairs(inputs_.size());
    for (std::uint32_t n = 0; n < steps.size(); ++n) {
      if (!arithmetic_.is_used(n) || steps[n].primitive != Primitive::kInput ||
          lane_.is_invariant(n)) {
        continue;
      }
      const auto input = static_cast<std::uint32_t>(steps[n].bits);
      if (pairs[input].empty()) pairs[input] = add_input(input);
      for (std::uint32_t part = 0; part < pairs[input].size(); ++part)
        arithmetic_.provide(n, part, pairs[input][part]);
    }
  }

  std::vector<Reg> add_input(std::uint32_t input) {
    const std::uint32_t parts = arithmetic_.parts(dtypes_[input]), word = first_word(input);
    std::vector<Reg> pairs;
    code_.begin_prologue();
    const Reg pointer = state(word);
    if (!is_repeated(inputs_[input])) {
      for (std::uint32_t part = 0; part < parts; ++part) {
        pairs.push_back(code_.fresh(File::kPair));
        loaded_.push_back(
            {pairs.back(), part == 0 ? pointer : code_.m("add", {pointer, 8}), parts});
      }
    } else {
      const bool same = inputs_[input] == Access::kAlignedStretched;
      for (std::uint32_t part = 0; part < parts; ++part)
        pairs.push_back(same && part > 0 ? pairs[0] : code_.fresh(File::kPair));
      Repeated r{input, pairs, pointer, state(word + 1), {}, {}};
      if (same) {
        load_everywhere(r);
      } else if (is_stretched(inputs_[input])) {
        r.value = code_.fresh(File::kA);
        load_one(r, def(r.value));
      }
      repeated_.push_back(std::move(r));
    }
    code_.end_prologue();
    return pairs;
  }

  void add_stores(std::size_t output) {
    const std::uint32_t parts = arithmetic_.parts(expression_.dtype(outputs_[output]));
    code_.begin_prologue();
    const Reg to = state(first_output() + output);
    code_.end_prologue();
    for (std::uint32_t part = 0; part < parts; ++part) {
      const Reg pair = arithmetic_.value(outputs_[output].id, part);
      code_.begin_prologue();
      stored_.push_back({pair, part == 0 ? to : code_.m("add", {to, 8}), parts});
      code_.end_prologue();
    }
  }

  static Instruction load(const Stream& s) {
    return {"ld64step", {def(s.pair), "$mzero", step(s.pointer), s.stride}};
  }
  static Instruction store(const Stream& s) {
    return {"st64step", {s.pair, "$mzero", step(s.pointer), s.stride}};
  }
  // Stores of a last turn, `beyond` bytes apart: 0 where there is nothing for the second part,
  // which is overwritten then.
  void store_last(std::vector<Stream> stored, Reg beyond) {
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const Stream& first = stored[i];
      if (first.stride != 1) code_.emit("st64", {stored[++i].pair, first.pointer, beyond, 0});
      code_.emit(store(first));
    }
  }

  // The next turn's loads beside this turn's arithmetic.
  void emit_pipelined() {
    const std::vector<Instruction>& body = arithmetic_.instructions();
    std::vector<Reg> loaded, stored;
    for (const Stream& s : loaded_) loaded.push_back(s.pair);
    for (const Stream& s : stored_) stored.push_back(s.pair);
    const Schedule plan = schedule(body, loaded, stored);
    for (const Stream& s : loaded_) code_.emit(load(s));
    code_.begin_repeat(more_);
    for (std::size_t slot = 0; slot < plan.slots; ++slot) {
      Instruction main = idle_main();
      for (std::size_t i = 0; i < loaded_.size(); ++i) {
        if (plan.load_slots[i] == static_cast<int>(slot)) main = load(loaded_[i]);
      }
      for (std::size_t i = 0; i < stored_.size(); ++i) {
        if (plan.store_slots[i] == static_cast<int>(slot)) main = store(stored_[i]);
      }
      code_.bundle(main, slot < body.size() ? body[slot] : idle_aux());
    }
    code_.end_repeat();
    // The last turn's values are others, so that those of the loop need no registers until then.
    std::map<std::uint32_t, Reg> renamed;
    const auto rename = [&](Reg& reg) {
      if (const auto found = renamed.find(reg.id); found != renamed.end()) reg = found->second;
    };
    for (Instruction instruction : body) {
      for (Arg& arg : instruction.args) {
        if (arg.kind == Arg::Kind::kDef) renamed.try_emplace(arg.reg.id, code_.fresh(arg.reg.file));
      }
      for (Arg& arg : instruction.args) rename(arg.reg);
      code_.emit(std::move(instruction));
    }
    std::vector<Stream> last = stored_;
    for (Stream& s : last) rename(s.pair);
    store_last(std::move(last), tail_);
  }

  void emit_arithmetic() {
    auto label = arithmetic_.labels().begin();
    const auto place_labels = [&](std::size_t before) {
      for (; label != arithmetic_.labels().end() && label->before == before; ++label)
        code_.place(label->label);
    };
    const std::vector<Instruction>& instructions = arithmetic_.instructions();
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      place_labels(i);
      code_.emit(instructions[i]);
    }
    place_labels(instructions.size());
  }

  void emit_turns() {
    const Label loop = code_.label();
    Reg beyond;
    if (has_tail_) {
      code_.begin_prologue();
      beyond = code_.constant(File::kM, 8);
      code_.end_prologue();
    }
    code_.place(loop);
    for (const Stream& s : loaded_) code_.emit(load(s));
    for (const Repeated& r : repeated_) {
      if (is_aligned(inputs_[r.input])) load_turn(r);
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      for (Repeated& r : repeated_) {
        if (!is_aligned(inputs_[r.input])) load_lane(r, lane);
      }
    }
    emit_arithmetic();
    if (has_tail_) code_.emit("movz", {both(beyond), more_, tail_});
    store_last(stored_, beyond);
    code_.branch("brnzdec", {both(more_)}, loop);
  }

  // Loads one element, an f16 into both halves of the register.
  void load_one(const Repeated& r, const Arg& to) {
    code_.emit(dtypes_[r.input] == DType::kF16 ? "ldb16step" : "ld32step",
               {to, "$mzero", step(r.pointer), 1});
  }

  // The value of all elements of a turn.
  void load_everywhere(const Repeated& r) {
    load_one(r, low(def(r.pairs[0])));
    code_.emit("mov", {high(def(r.pairs[0])), low(Arg(r.pairs[0]))});
  }

  // Counts down what is left of a period; behind it, `next` gets what comes then.
  template <class Next>
  void count_down(const Repeated& r, const Next& next) {
    const Label same = code_.label();
    const auto reload = [&](Reg reg, std::uint32_t offset) {
      code_.emit("ld32", {def(reg), "$mvertex_base", "$mzero", first_word(r.input) + offset});
    };
    code_.branch("brnzdec", {both(r.left)}, same);
    next();
    if (is_cyclic(inputs_[r.input])) reload(r.pointer, 2);
    reload(r.left, is_cyclic(inputs_[r.input]) ? 3 : 2);
    code_.place(same);
  }

  void load_turn(const Repeated& r) {
    if (is_stretched(inputs_[r.input])) {
      count_down(r, [&] { load_everywhere(r); });
      return;
    }
    for (const Reg pair : r.pairs)
      code_.emit("ld64step", {def(pair), "$mzero", step(r.pointer), 1});
    count_down(r, [] {});
  }

  void load_lane(Repeated& r, std::uint32_t lane) {
    const bool is_half = dtypes_[r.input] == DType::kF16;
    const Reg pair = r.pairs[is_half ? 0 : lane / 2];
    const Reg element = is_half ? code_.fresh(File::kA) : Reg{};
    const auto word = [&](bool upper) { return upper ? high(def(pair)) : low(def(pair)); };
    const Arg to = is_half ? def(element) : word(lane % 2 == 1);
    if (is_stretched(inputs_[r.input])) {
      count_down(r, [&] { load_one(r, def(r.value)); });
      code_.emit("mov", {to, r.value});
    } else {
      load_one(r, to);
      count_down(r, [] {});
    }
    // Two f16 make a word.
    if (is_half && lane % 2 == 1) code_.emit("sort4x16lo", {word(lane == 3), r.element, element});
    r.element = element;
  }

  WorkerCode code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  const std::vector<Access>& inputs_;
  std::vector<DType> dtypes_;
  Lane lane_;
  VectorArithmetic arithmetic_;
  std::uint32_t lanes_;
  bool has_tail_ = false;
  Reg more_, tail_;
  std::vector<Stream> loaded_, stored_;
  std::vector<Repeated> repeated_;
};

}  // namespace

std::optional<Codelet> elementwise_in_pairs(const MachineConfig& machine,
                                            const Expression& expression,
                                            const std::vector<Node>& outputs,
                                            const std::vector<Access>& inputs) {
  for (const bool by_repeat : {true, false}) {
    PairLoop loop(machine, expression, outputs, inputs);
    if (auto codelet = loop.make(by_repeat)) return codelet;
  }
  return std::nullopt;
}

}  // namespace superstep::vertex
