#include "compiler/vertex/pair_loop.h"

#include <algorithm>
#include <map>
#include <utility>

namespace superstep::vertex {
namespace {

using Step = Expression::Step;

/// Whether a step works on pairs of f32, or fours of f16.
bool is_pairwise(const Expression& expression, std::uint32_t node, DType dtype) {
  const Step& step = expression.steps()[node];
  const auto operands_are = [&](DType dtype) {
    return std::all_of(step.operands.begin(), step.operands.end(),
                       [&](std::uint32_t n) { return expression.steps()[n].dtype == dtype; });
  };
  switch (step.primitive) {
    case Primitive::kInput:
      return step.dtype == dtype;
    case Primitive::kAnd:
    case Primitive::kOr:
    case Primitive::kNot:
      return operands_are(DType::kI1);
    case Primitive::kSelect:
      return step.dtype == dtype;
    case Primitive::kAdd:
    case Primitive::kSub:
    case Primitive::kMul:
    case Primitive::kMin:
    case Primitive::kMax:
    case Primitive::kNeg:
    case Primitive::kAbs:
    case Primitive::kEq:
    case Primitive::kNe:
    case Primitive::kLt:
    case Primitive::kLe:
    case Primitive::kGt:
    case Primitive::kGe:
    case Primitive::kIsFinite:
      return operands_are(dtype);
    case Primitive::kDiv:
    case Primitive::kExp:
    case Primitive::kLog:
    case Primitive::kSqrt:
    case Primitive::kRsqrt:
    case Primitive::kReciprocal:
    case Primitive::kTanh:
    case Primitive::kSigmoid:
    case Primitive::kFloor:
    case Primitive::kCeil:
    case Primitive::kRoundEven:
    case Primitive::kRoundAway:
    case Primitive::kTruncate:
      return dtype == DType::kF32 && operands_are(dtype);
    default:
      return false;
  }
}

/// Arithmetic of one turn in program order, on register pairs of two f32 or four f16.
class PairArithmetic {
 public:
  PairArithmetic(WorkerCode& code, const Expression& expression, Lane& lane, DType dtype)
      : code_(code),
        expression_(expression),
        lane_(lane),
        is_half_(dtype == DType::kF16),
        pairs_(expression.steps().size()) {}

  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  void provide(std::uint32_t node, Reg pair) { pairs_[node] = pair; }
  [[nodiscard]] bool is_scalar(std::uint32_t node) const { return lane_.is_invariant(node); }

  Reg pair(std::uint32_t node) {
    if (pairs_[node].valid()) return pairs_[node];
    if (is_scalar(node)) {
      Reg scalar = is_half_ ? lane_.half(node) : lane_.arith(node);
      code_.begin_prologue();
      if (is_half_) scalar = code_.a("sort4x16lo", {scalar, scalar});
      const Reg p = code_.fresh(File::kPair);
      code_.emit("mov", {low(def(p)), scalar});
      code_.emit("mov", {high(def(p)), scalar});
      code_.end_prologue();
      return pairs_[node] = p;
    }
    const Reg p = compute(node);
    return pairs_[node] = p;
  }

 private:
  Reg emit(std::string_view mnemonic, std::initializer_list<Arg> args) {
    const Reg p = code_.fresh(File::kPair);
    std::vector<Arg> all{def(p)};
    all.insert(all.end(), args);
    instructions_.emplace_back(mnemonic, std::move(all));
    return p;
  }

  // An instruction of the vector's type.
  Reg vector(const char* operation, std::initializer_list<Arg> args) {
    return emit(std::string(is_half_ ? "f16v4" : "f32v2") + operation, args);
  }

  // An instruction that exists for single values only.
  Reg halves(const char* mnemonic, std::uint32_t operand, std::initializer_list<Arg> more = {}) {
    const Reg x = pair(operand), p = code_.fresh(File::kPair);
    std::vector<Arg> lower{low(def(p)), low(x)}, upper{high(def(p)), high(x)};
    lower.insert(lower.end(), more);
    upper.insert(upper.end(), more);
    instructions_.emplace_back(mnemonic, std::move(lower));
    instructions_.emplace_back(mnemonic, std::move(upper));
    return p;
  }

  // A scalar broadcasts as the first operand.
  Reg with_broadcast(const char* operation, std::uint32_t x, std::uint32_t y) {
    const Reg second = pair(y);
    if (is_half_ || !is_scalar(x)) {
      const Reg first = pair(x);
      return vector(operation, {first, second});
    }
    return vector(operation, {broadcast(lane_.arith(x)), second});
  }
  Reg commutative(const char* operation, std::uint32_t x, std::uint32_t y) {
    return is_scalar(y) && !is_scalar(x) ? with_broadcast(operation, y, x)
                                         : with_broadcast(operation, x, y);
  }

  Reg blend(Reg mask, Reg chosen, Reg other) {
    const Reg kept = emit("and64", {chosen, mask});
    const Reg rest = emit("andc64", {other, mask});
    return emit("or64", {kept, rest});
  }

  // See Lane::extreme. Ones where an operand is no number make a NaN, and the sum with the negative
  // zero makes it canonical.
  Reg extreme(const char* operation, std::uint32_t x_node, std::uint32_t y_node) {
    if (lane_.is_number(x_node)) std::swap(x_node, y_node);
    const Reg x = pair(x_node), y = pair(y_node);
    const Reg number = vector(operation, {x, y});
    Reg not_number = vector("cmpne", {x, x});
    if (!lane_.is_number(y_node)) {
      const Reg y_not = vector("cmpne", {y, y});
      not_number = emit("or64", {not_number, y_not});
    }
    const Reg marked = emit("or64", {number, not_number});
    return with_negative_zero("add", marked);
  }

  Reg compute(std::uint32_t node) {
    const Step& step = expression_.steps()[node];
    const std::uint32_t x = step.operands[0];
    const std::uint32_t y = step.operands.size() > 1 ? step.operands[1] : x;
    const auto binary = [&](const char* operation) {
      const Reg first = pair(x), second = pair(y);
      return vector(operation, {first, second});
    };
    switch (step.primitive) {
      case Primitive::kAdd:
        return commutative("add", x, y);
      case Primitive::kMul:
        return commutative("mul", x, y);
      case Primitive::kSub:
        return with_broadcast("sub", x, y);
      case Primitive::kNeg:
        return with_negative_zero("sub", pair(x));
      case Primitive::kAbs:
        return magnitude(x);
      case Primitive::kMin:
        return extreme("min", x, y);
      case Primitive::kMax:
        return extreme("max", x, y);
      case Primitive::kEq:
        return binary("cmpeq");
      case Primitive::kNe:
        return binary("cmpne");
      case Primitive::kLt:
        return binary("cmplt");
      case Primitive::kLe:
        return binary("cmple");
      case Primitive::kGt:
        return binary("cmpgt");
      case Primitive::kGe:
        return binary("cmpge");
      case Primitive::kAnd:
        return binary("and64");
      case Primitive::kOr:
        return binary("or64");
      case Primitive::kNot:
        return emit("not64", {pair(x)});
      case Primitive::kSelect: {
        const Reg mask = pair(x), chosen = pair(y), other = pair(step.operands[2]);
        return blend(mask, chosen, other);
      }
      case Primitive::kIsFinite: {
        const Reg size = magnitude(x);
        return vector("cmplt", {size, infinity()});
      }
      case Primitive::kDiv: {
        const Reg first = pair(x), second = pair(y), p = code_.fresh(File::kPair);
        instructions_.push_back({"f32div", {low(def(p)), low(first), low(second)}});
        instructions_.push_back({"f32div", {high(def(p)), high(first), high(second)}});
        return p;
      }
      case Primitive::kExp:
        return halves("f32exp", x);
      case Primitive::kLog:
        return halves("f32ln", x);
      case Primitive::kSqrt:
        return halves("f32sqrt", x);
      case Primitive::kRsqrt:
        return halves("f32oorx", x);
      case Primitive::kReciprocal:
        return halves("f32oox", x);
      case Primitive::kTanh:
        return halves("f32tanh", x);
      case Primitive::kSigmoid:
        return halves("f32sigm", x);
      case Primitive::kFloor:
        return halves("f32int", x, {kRoundDown});
      case Primitive::kCeil:
        return halves("f32int", x, {kRoundUp});
      case Primitive::kRoundEven:
        return halves("f32int", x, {kRoundEven});
      case Primitive::kRoundAway:
        return halves("f32int", x, {kRoundAway});
      default:
        return halves("f32int", x, {kTruncate});
    }
  }

  Reg magnitude(std::uint32_t node) { return vector("absadd", {pair(node), "$azeros"}); }

  Reg with_negative_zero(const char* operation, Reg x) {
    if (is_half_) return vector(operation, {everywhere(negative_zeros_, 0x80008000), x});
    const Reg zero = lane_.prologue_constant(File::kA, 0x80000000);
    return vector(operation, {broadcast(zero), x});
  }

  Reg infinity() { return everywhere(infinity_, is_half_ ? 0x7c007c00 : 0x7f800000); }

  // A pair of one constant, set in the prologue.
  Reg everywhere(Reg& pair, std::uint32_t word) {
    if (pair.valid()) return pair;
    code_.begin_prologue();
    const Reg scalar = code_.constant(File::kA, word);
    pair = code_.fresh(File::kPair);
    code_.emit("mov", {low(def(pair)), scalar});
    code_.emit("mov", {high(def(pair)), scalar});
    code_.end_prologue();
    return pair;
  }

  WorkerCode& code_;
  const Expression& expression_;
  Lane& lane_;
  bool is_half_;
  std::vector<Reg> pairs_;
  std::vector<Instruction> instructions_;
  Reg infinity_, negative_zeros_;
};

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

class PairLoop {
 public:
  PairLoop(const MachineConfig& machine, const Expression& expression,
           const std::vector<Node>& outputs, const std::vector<Access>& inputs)
      : code_(machine),
        expression_(expression),
        outputs_(outputs),
        inputs_(inputs),
        dtype_(expression.dtype(outputs[0])),
        lane_(code_, expression, inputs,
              [&](std::uint32_t input, Form form) {
                return load_element(code_, dtype_, form, state(first_word(input)), "$mzero", 0);
              }),
        arithmetic_(code_, expression, lane_, dtype_) {}

  std::optional<TimedCodelet> make() {
    if (!is_possible()) return std::nullopt;
    const Label done = code_.label();
    code_.begin_prologue();
    more_ = state(0);
    code_.branch("brneg", {more_}, done);
    code_.mark();
    code_.end_prologue();
    load_pointers();
    for (const Node output : outputs_) {
      stored_.push_back(arithmetic_.pair(output.id));
      code_.begin_prologue();
      to_.push_back(state(1 + to_.size()));
      code_.end_prologue();
    }
    if (!(repeated_.empty() ? emit_pipelined() : emit_turns())) return std::nullopt;
    code_.place(done);
    code_.exit();
    auto codelet = code_.try_finish("elementwise_pairs");
    if (!codelet) return std::nullopt;
    TimedCodelet timed{*std::move(codelet), dtype_ == DType::kF16 ? 4U : 2U};
    timed.wrap_slots.resize(inputs_.size());
    std::vector<std::uint32_t> repeated;
    for (const Repeated& r : repeated_) repeated.push_back(r.input);
    timed.measure(code_.marked_slots(), repeated, 2);
    // The turn outside the loop counts as fixed, less the turn that the loop has less.
    if (repeated_.empty()) timed.fixed_slots -= timed.turn_slots;
    return timed;
  }

 private:
  struct Repeated {
    std::uint32_t input;
    Reg pair, pointer, left, value;  ///< the value where it is stretched
  };

  Reg state(std::size_t word) {
    return code_.m("ld32", {"$mvertex_base", "$mzero", static_cast<std::uint32_t>(word)});
  }
  [[nodiscard]] std::uint32_t first_word(std::uint32_t input) const {
    auto word = static_cast<std::uint32_t>(1 + outputs_.size());
    for (std::uint32_t i = 0; i < input; ++i) word += worker_words(inputs_[i]);
    return word;
  }

  bool is_possible() {
    const bool repeats = std::any_of(inputs_.begin(), inputs_.end(),
                                     [](Access access) { return state_words(access) == 3; });
    if (dtype_ != DType::kF32 && (dtype_ != DType::kF16 || repeats)) return false;
    const auto& steps = expression_.steps();
    used_.assign(steps.size(), false);
    for (const Node output : outputs_) {
      if (expression_.dtype(output) != dtype_ || lane_.is_invariant(output.id)) return false;
      used_[output.id] = true;
    }
    for (std::uint32_t n = static_cast<std::uint32_t>(steps.size()); n-- > 0;) {
      if (!used_[n]) continue;
      for (const std::uint32_t operand : steps[n].operands) used_[operand] = true;
      if (lane_.is_invariant(n) ? steps[n].dtype != dtype_ : !is_pairwise(expression_, n, dtype_))
        return false;
      if (steps[n].primitive == Primitive::kInput && steps[n].dtype != dtype_) return false;
    }
    const MachineConfig::Tile& tile = code_.machine().tile;
    return tile.memory_bytes / 8 / tile.workers <= 65535;
  }

  void load_pointers() {
    const auto& steps = expression_.steps();
    std::vector<Reg> pair_of_input(inputs_.size());
    for (std::uint32_t n = 0; n < steps.size(); ++n) {
      if (!used_[n] || steps[n].primitive != Primitive::kInput || lane_.is_invariant(n)) continue;
      const auto input = static_cast<std::uint32_t>(steps[n].bits);
      Reg& pair = pair_of_input[input];
      if (!pair.valid()) {
        pair = code_.fresh(File::kPair);
        code_.begin_prologue();
        const std::uint32_t word = first_word(input);
        const Reg pointer = state(word);
        if (inputs_[input] == Access::kVector) {
          loaded_.push_back(pair);
          from_.push_back(pointer);
        } else {
          Repeated r{input, pair, pointer, state(word + 1), {}};
          if (inputs_[input] == Access::kStretched)
            r.value = code_.a("ld32step", {"$mzero", step(pointer), 1});
          repeated_.push_back(r);
        }
        code_.end_prologue();
      }
      arithmetic_.provide(n, pair);
    }
  }

  Instruction load(std::size_t i) {
    return {"ld64step", {def(loaded_[i]), "$mzero", step(from_[i]), 1}};
  }
  Instruction store(std::size_t i) { return {"st64step", {stored_[i], "$mzero", step(to_[i]), 1}}; }

  // The next turn's loads beside this turn's arithmetic.
  bool emit_pipelined() {
    const std::vector<Instruction>& body = arithmetic_.instructions();
    if (loaded_.empty()) return false;
    const Schedule plan = schedule(body, loaded_, stored_);
    for (std::size_t i = 0; i < loaded_.size(); ++i) code_.emit(load(i));
    code_.begin_repeat(more_);
    code_.mark();
    for (std::size_t slot = 0; slot < plan.slots; ++slot) {
      Instruction main("nop", {});
      for (std::size_t i = 0; i < loaded_.size(); ++i) {
        if (plan.load_slots[i] == static_cast<int>(slot)) main = load(i);
      }
      for (std::size_t i = 0; i < stored_.size(); ++i) {
        if (plan.store_slots[i] == static_cast<int>(slot)) main = store(i);
      }
      code_.bundle(main, slot < body.size() ? body[slot] : idle_aux());
    }
    code_.mark();
    code_.end_repeat();
    // The last turn's values are others, so that those of the loop need no registers until then.
    std::map<std::uint32_t, Reg> renamed;
    const auto rename = [&](Reg& reg) {
      if (const auto found = renamed.find(reg.id); found != renamed.end()) reg = found->second;
    };
    for (Instruction instruction : body) {
      for (Arg& arg : instruction.args) {
        if (arg.kind == Arg::Kind::kDef) renamed.try_emplace(arg.reg.id, code_.fresh(File::kPair));
      }
      for (Arg& arg : instruction.args) rename(arg.reg);
      code_.emit(std::move(instruction));
    }
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      rename(stored_[i]);
      code_.emit(store(i));
    }
    return true;
  }

  bool emit_turns() {
    const Label loop = code_.label();
    code_.mark();
    code_.place(loop);
    for (std::size_t i = 0; i < loaded_.size(); ++i) code_.emit(load(i));
    for (const Repeated& r : repeated_) load_next(r, low(def(r.pair)));
    for (const Repeated& r : repeated_) load_next(r, high(def(r.pair)));
    for (const Instruction& instruction : arithmetic_.instructions()) code_.emit(instruction);
    for (std::size_t i = 0; i < stored_.size(); ++i) code_.emit(store(i));
    code_.branch("brnzdec", {both(more_)}, loop);
    code_.mark();
    return true;
  }

  void load_next(const Repeated& r, const Arg& half) {
    const Label same = code_.label();
    const std::uint32_t word = first_word(r.input);
    const auto reload = [&](Reg reg, std::uint32_t offset) {
      code_.emit("ld32", {def(reg), "$mvertex_base", "$mzero", word + offset});
    };
    if (r.value.valid()) {
      code_.branch("brnzdec", {both(r.left)}, same);
      code_.mark();
      code_.emit("ld32step", {def(r.value), "$mzero", step(r.pointer), 1});
      reload(r.left, 2);
      code_.mark();
      code_.place(same);
      code_.emit("mov", {half, r.value});
    } else {
      code_.emit("ld32step", {half, "$mzero", step(r.pointer), 1});
      code_.branch("brnzdec", {both(r.left)}, same);
      code_.mark();
      reload(r.pointer, 2);
      reload(r.left, 3);
      code_.mark();
      code_.place(same);
    }
  }

  WorkerCode code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  const std::vector<Access>& inputs_;
  DType dtype_;
  Lane lane_;
  PairArithmetic arithmetic_;
  std::vector<bool> used_;
  Reg more_;
  std::vector<Reg> loaded_, from_, stored_, to_;
  std::vector<Repeated> repeated_;
};

}  // namespace

std::optional<TimedCodelet> elementwise_in_pairs(const MachineConfig& machine,
                                                 const Expression& expression,
                                                 const std::vector<Node>& outputs,
                                                 const std::vector<Access>& inputs) {
  auto timed = PairLoop(machine, expression, outputs, inputs).make();
  if (timed) {
    const DType dtype = expression.dtype(outputs[0]);
    const ElementwiseDivision division{machine.tile.workers,
                                       timed->elements_per_turn,
                                       Count::kMoreTurns,
                                       false,
                                       std::vector<DType>(outputs.size(), dtype),
                                       std::vector<DType>(inputs.size(), dtype),
                                       inputs};
    timed->codelet.divide = [division](std::span<const std::uint32_t> state, std::uint32_t) {
      return division(state);
    };
  }
  return timed;
}

}  // namespace superstep::vertex
