#include "compiler/vertex/timing_analysis.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "isa/bundle.h"
#include "isa/instructions.h"
#include "isa/operands.h"
#include "isa/registers.h"
#include "isa/table.h"

namespace superstep::vertex {
namespace {

using isa::U32;
using Mask = std::uint64_t;

/// Registers of the main file, then words of the stack.
constexpr std::uint32_t kMainRegisters = 16, kStackWords = 48,
                        kRegisters = kMainRegisters + kStackWords;
/// Stands for the worker's stack: no address that a vertex state holds.
constexpr std::uint32_t kStack = 0x80000000;
constexpr Mask bit(std::uint32_t number) { return Mask{1} << number; }

template <class Visit>
void for_each_bit(Mask mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// What is known of a worker.
struct Registers {
  std::array<U32, kRegisters> value{};
  Mask known = bit(isa::kReadOnly) | bit(isa::kZero);

  [[nodiscard]] bool knows(Mask registers) const { return (registers & ~known) == 0; }
  [[nodiscard]] bool is_same(const Registers& other, std::uint32_t r) const {
    const bool here = (known & bit(r)) != 0, there = (other.known & bit(r)) != 0;
    return here == there && (!here || value[r] == other.value[r]);
  }
};

/// What an instruction that is interpreted sees, and what comes of it.
struct Environment {
  const Registers& registers;
  std::span<const std::uint32_t> words;
  std::uint32_t address, next;

  bool loads = false, knows_loaded = false;
  std::optional<std::uint32_t> target = {};                    ///< of a branch that is taken
  std::uint32_t turns = 0, bundles = 0;                        ///< of a repeat
  std::optional<std::uint32_t> loaded_from = {}, stored = {};  ///< words of the stack
  U32 stored_value = 0;
  std::array<U32, kMainRegisters> results{};
  Mask written = 0, written_by_load = 0;

  void branch(U32 to) { target = to; }
  [[nodiscard]] U32 next_pc() const { return next; }
  void repeat(U32 count, U32 body) {
    turns = count;
    bundles = body;
  }
  void exit(bool) {}
  void fault(const std::string&) {}

  template <class T>
  T load(U32 at) {
    loads = true;
    if constexpr (sizeof(T) == 4) {
      if (at % 4 == 0 && at >= address && (at - address) / 4 < words.size()) {
        knows_loaded = true;
        return words[(at - address) / 4];
      }
      if (const auto slot = stack_word(at)) {
        loaded_from = slot;
        knows_loaded = registers.knows(bit(*slot));
        return registers.value[*slot];
      }
    }
    return {};
  }
  template <class T>
  void store(U32 at, T value) {
    stored = stack_word(at);
    if constexpr (sizeof(T) == 4) stored_value = value;
  }

 private:
  [[nodiscard]] static std::optional<std::uint32_t> stack_word(U32 at) {
    if (at < kStack || (at - kStack) / 4 >= kStackWords) return std::nullopt;
    return kMainRegisters + (at - kStack) / 4;
  }
};

template <class R>
using Inputs = decltype(gather(typename R::Operands{}, []<class Operand, std::size_t kOrdinal>() {
  return typename Operand::Value{};
}));

template <class R>
void interpret(Environment& env, U32 word) {
  const auto inputs =
      gather(typename R::Operands{},
             [&]<class Operand, std::size_t kOrdinal>() -> typename Operand::Value {
               if constexpr (!Operand::kIsRegister) {
                 return isa::immediate_of<R, Operand>(word);
               } else if constexpr (Operand::kFile == isa::File::kMain && Operand::kCount == 1) {
                 return env.registers.value[isa::raw_of<R, Operand>(word)];
               } else {
                 return {};
               }
             });
  const auto outputs = execute_record<R>(env, inputs);
  scatter(typename R::Operands{}, outputs,
          [&]<class Operand, std::size_t kOrdinal>(const auto& value) {
            if constexpr (Operand::kFile == isa::File::kMain && Operand::kCount == 1) {
              const U32 number = isa::raw_of<R, Operand>(word);
              if (number >= isa::kReadOnly) return;
              env.results[number] = value;
              env.written |= bit(number);
              if (Operand::kRole == isa::Role::kOut) env.written_by_load |= bit(number);
            }
          });
}

using Interpret = void (*)(Environment&, U32);

template <class R, class... Records>
constexpr bool is_one_of(isa::List<Records...>) {
  return (std::is_same_v<R, Records> || ...);
}

/// What control flow and its numbers are made of; null for all else.
template <class R>
constexpr Interpret interpreter_of() {
  constexpr bool kIsFlow =
      R::spec.control != isa::Control::kPlain && R::spec.control != isa::Control::kSystem;
  if constexpr (kIsFlow || is_one_of<R>(isa::LoadInstructions{}) ||
                is_one_of<R>(isa::StoreInstructions{})) {
    return interpret<R>;
  } else if constexpr (are_single_main(typename R::Operands{})) {
    if constexpr (kIsPure<R, Inputs<R>>) return interpret<R>;
  }
  return nullptr;
}
template <class... Records>
constexpr std::array<Interpret, sizeof...(Records)> interpreters(isa::List<Records...>) {
  return {interpreter_of<Records>()...};
}
constexpr auto kInterpreters = interpreters(isa::Isa{});

template <class... Records>
constexpr std::array<bool, sizeof...(Records)> stores(isa::List<Records...>) {
  return {is_one_of<Records>(isa::StoreInstructions{})...};
}
constexpr auto kStores = stores(isa::Isa{});

}  // namespace

TimingAnalysis::TimingAnalysis(const MachineConfig& machine, const Codelet& codelet)
    : workers_(machine.tile.workers), divide_(codelet.divide) {
  for (std::size_t at = 0; at < codelet.words.size(); ++at) {
    steps_.push_back(decode(machine, codelet.words, at));
  }
  // Few elements need what is called behind a condition.
  for (std::size_t at = 0; at < steps_.size(); ++at) {
    Decoded& branch = steps_[at];
    if (!branch.is_branch || branch.uses == 0 || !branch.record) continue;
    Environment env{.registers = {}, .words = codelet.words, .address = 0, .next = 0};
    kInterpreters[*branch.record](env, branch.word);
    if (!env.target) continue;
    for (std::size_t next = at + 1; next < *env.target / 4; ++next) {
      if (steps_[next].is_branch && steps_[next].uses == 0 && steps_[next].defines != 0)
        branch.past_calls = env.target;
    }
    if (!branch.past_calls && *env.target > 4 * at) branch.ahead = env.target;
  }
  for (std::size_t at = 0; at < steps_.size(); ++at) {
    Decoded& repeat = steps_[at];
    if (!repeat.is_repeat) continue;
    std::uint32_t from = static_cast<std::uint32_t>(at) * 4 + repeat.bytes;
    for (; from < repeat.body_end && from / 4 < steps_.size(); from += steps_[from / 4].bytes) {
      repeat.body_slots += steps_[from / 4].slots;
      repeat.body_defines |= steps_[from / 4].defines;
    }
  }
}

TimingAnalysis::Decoded TimingAnalysis::decode(const MachineConfig& machine,
                                               const std::vector<std::uint32_t>& words,
                                               std::size_t at) const {
  Decoded step{.word = words[at]};
  const isa::InstructionInfo* info = isa::find_instruction(step.word);
  if (info == nullptr) return step;
  const auto note_registers = [&](const isa::InstructionInfo& of, U32 word) {
    for (const isa::OperandInfo& operand : of.operands) {
      if (!operand.is_register || operand.file != isa::File::kMain) continue;
      const U32 first = operand.field.extract(word);
      for (U32 r = first; r < first + operand.count; ++r) {
        if (operand.role != isa::Role::kOut) step.uses |= bit(r);
        if (operand.role != isa::Role::kIn && r < isa::kReadOnly) step.defines |= bit(r);
      }
    }
  };
  note_registers(*info, step.word);
  step.slots = info->worker_slots(machine);
  const std::uint64_t uses = step.uses;
  // The interpreted half of a bundle is the main one.
  if ((step.word & isa::kCoIssue) != 0 && at + 1 < words.size()) {
    step.bytes = 8;
    if (const auto* aux = isa::find_instruction(words[at + 1])) {
      step.slots = std::max(step.slots, std::uint64_t{aux->worker_slots(machine)});
      note_registers(*aux, words[at + 1]);
    }
  }
  step.uses = uses;
  if (kStores[info->number] && info->operands[0].file == isa::File::kMain) {
    step.stored = bit(info->operands[0].field.extract(step.word));
  }
  if (kInterpreters[info->number] != nullptr) step.record = info->number;
  step.is_branch = info->spec.control == isa::Control::kBranch;
  step.is_exit = info->spec.control == isa::Control::kExit;
  step.is_repeat = info->spec.control == isa::Control::kRepeat;
  if (step.is_repeat) {
    Environment env{.registers = {}, .words = {}, .address = 0, .next = 0};
    kInterpreters[*step.record](env, step.word);
    step.body_end = static_cast<std::uint32_t>(at) * 4 + step.bytes + 8 * env.bundles;
  }
  return step;
}

/// One worker.
class WorkerAnalysis {
 public:
  WorkerAnalysis(const TimingAnalysis& analysis, std::span<const std::uint32_t> words,
                 std::uint32_t address, std::uint32_t vertex_base, std::span<const double> shares)
      : steps_(analysis.steps_), words_(words), address_(address), shares_(shares) {
    now_.value[isa::kVertexBase] = vertex_base;
    now_.value[isa::kWorkerBase] = kStack;
    now_.known |= bit(isa::kVertexBase) | bit(isa::kWorkerBase);
  }

  WorkerTiming run() {
    std::uint32_t pc = 0;
    while (true) {
      SUPERSTEP_CHECK(pc / 4 < steps_.size() && steps_[pc / 4].slots > 0,
                      "a codelet goes on with what is no instruction");
      const TimingAnalysis::Decoded& step = steps_[pc / 4];
      while (!skipped_.empty() && skipped_.back().end == pc) {
        const double before = skipped_.back().slots;
        slots_ = before + (slots_ - before) * shares_[skipped_.size() - 1];
        skipped_.pop_back();
      }
      slots_ += static_cast<double>(step.slots);
      if (step.is_exit) {
        timing_.slots = static_cast<std::uint64_t>(std::llround(slots_));
        return timing_;
      }
      if (step.is_repeat) {
        repeat(step);
        pc = step.body_end;
        continue;
      }
      const std::uint32_t next = go(step, pc);
      if (next <= pc) arrive(next);
      pc = next;
    }
  }

 private:
  /// What happened since a loop came to its head: how its turns depend on what was there then.
  struct Window {
    std::uint32_t head = 0;
    std::uint32_t turns = 0;
    double slots = 0;
    Registers begin;
    std::array<Mask, kRegisters> from{};  ///< by register: registers of the begin that made it
    Mask decided = 0;                     ///< registers of the begin that made decisions
    Mask counted = 0;                     ///< likewise, of branches that count their own begin down
    Mask written = 0;                     ///< but by such branches

    [[nodiscard]] Mask made_of(Mask registers) const {
      Mask result = 0;
      for_each_bit(registers, [&](std::uint32_t r) { result |= from[r]; });
      return result;
    }
    /// What decides next time, if this time comes again.
    [[nodiscard]] Mask deciding() const {
      Mask all = decided | (counted & written);
      while (true) {
        const Mask more = all | made_of(all);
        if (more == all) return all;
        all = more;
      }
    }
  };
  /// Turns after which a loop's lanes are as they were [assumed: predictions are compared with
  /// simulated launches].
  static constexpr std::uint32_t kMostTurns = 4;

  void repeat(const TimingAnalysis::Decoded& step) {
    Environment env = environment(0);
    decide(step.uses);
    if (!now_.knows(step.uses)) {
      timing_.depends_on_data = true;
      return;
    }
    kInterpreters[*step.record](env, step.word);
    if (env.turns == 0) return;
    slots_ += static_cast<double>(env.turns * step.body_slots);
    now_.known &= ~step.body_defines;
    for (Window& w : windows_) {
      const Mask made = w.made_of(step.body_defines);
      for_each_bit(step.body_defines, [&](std::uint32_t r) { w.from[r] = made; });
      w.written |= step.body_defines;
    }
  }

  /// Executes an instruction; where it goes on.
  std::uint32_t go(const TimingAnalysis::Decoded& step, std::uint32_t pc) {
    const std::uint32_t next = pc + step.bytes;
    Environment env = environment(next);
    const bool counts = step.is_branch && (step.uses & step.defines) != 0;
    // What is stored need not be known.
    const bool is_known = step.record && now_.knows(step.uses & ~step.stored);
    if (is_known) kInterpreters[*step.record](env, step.word);
    if (step.is_branch && step.uses != 0) {
      if (!is_known) {
        timing_.depends_on_data = true;
        env.target = step.past_calls;
        if (step.ahead && skipped_.size() < shares_.size()) {
          skipped_.push_back({*step.ahead, slots_});
        }
      }
      if (counts) {
        count_down(step.uses);
      } else {
        decide(step.uses);
      }
    }
    if (env.loads && !env.knows_loaded) env.written &= ~env.written_by_load;
    for_each_bit(step.defines & env.written,
                 [&](std::uint32_t r) { now_.value[r] = env.results[r]; });
    now_.known = (now_.known & ~step.defines) | (step.defines & env.written);
    const Mask read = step.uses | (env.loaded_from ? bit(*env.loaded_from) : 0);
    Mask written = counts ? 0 : step.defines;
    if (env.stored) {
      now_.value[*env.stored] = env.stored_value;
      const bool knows_stored = step.stored != 0 && now_.knows(step.stored);
      now_.known = (now_.known & ~bit(*env.stored)) | (knows_stored ? bit(*env.stored) : 0);
      written |= bit(*env.stored);
    }
    if (written != 0) note_written(read, written);
    return env.target.value_or(next);
  }

  [[nodiscard]] Environment environment(std::uint32_t next) const {
    return {.registers = now_, .words = words_, .address = address_, .next = next};
  }

  void note_written(Mask read, Mask written) {
    for (Window& w : windows_) {
      const Mask made = w.made_of(read);
      for_each_bit(written, [&](std::uint32_t r) { w.from[r] = made; });
      w.written |= written;
    }
  }
  void decide(Mask uses) {
    if (!now_.knows(uses)) return;  // by us
    for (Window& w : windows_) w.decided |= w.made_of(uses);
  }
  void count_down(Mask counter) {
    if (!now_.knows(counter)) return;
    for (Window& w : windows_) {
      if ((w.written & counter) == 0) {
        w.counted |= counter;
      } else {
        w.decided |= w.made_of(counter);
      }
    }
  }

  void arrive(std::uint32_t head) {
    const auto found =
        std::ranges::find_if(windows_, [&](const Window& w) { return w.head == head; });
    if (found == windows_.end()) {
      windows_.push_back(begin(head));
      return;
    }
    if (const std::uint64_t times = repetitions(*found); times > 0) {
      skip(*found, times);
      *found = begin(head);
    } else if (++found->turns == kMostTurns) {
      *found = begin(head);
    }
  }

  [[nodiscard]] Window begin(std::uint32_t head) const {
    Window window{.head = head, .turns = 0, .slots = slots_, .begin = now_};
    for (std::uint32_t r = 0; r < kRegisters; ++r) window.from[r] = bit(r);
    return window;
  }

  /// How often what happened in a window happens again.
  [[nodiscard]] std::uint64_t repetitions(const Window& w) const {
    bool same = true;
    for_each_bit(w.deciding(), [&](std::uint32_t r) { same &= now_.is_same(w.begin, r); });
    if (!same) return 0;
    constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t times = kNever;
    for_each_bit(w.counted & ~w.written, [&](std::uint32_t r) {
      const U32 down = w.begin.value[r] - now_.value[r];
      if (down > 0) times = std::min<std::uint64_t>(times, now_.value[r] / down);
    });
    return times == kNever ? 0 : times;
  }

  void skip(const Window& w, std::uint64_t times) {
    slots_ += static_cast<double>(times) * (slots_ - w.slots);
    for_each_bit(w.counted & ~w.written, [&](std::uint32_t r) {
      const U32 down = w.begin.value[r] - now_.value[r];
      now_.value[r] -= down * static_cast<U32>(times);
    });
    now_.known &= ~(w.written & ~w.deciding());
    // For windows around, one instruction that makes what was written of all that was read.
    Mask read = w.written;
    for_each_bit(w.written, [&](std::uint32_t r) { read |= w.from[r]; });
    for (Window& around : windows_) {
      if (&around == &w) continue;
      const Mask made = around.made_of(read);
      for_each_bit(w.written, [&](std::uint32_t r) { around.from[r] |= made; });
      around.written |= w.written;
    }
  }

  const std::vector<TimingAnalysis::Decoded>& steps_;
  std::span<const std::uint32_t> words_;
  std::uint32_t address_;
  Registers now_;
  /// What a branch may go past.
  struct Skipped {
    std::uint32_t end;
    double slots;  ///< before it
  };
  std::span<const double> shares_;
  double slots_ = 0;
  std::vector<Skipped> skipped_;  ///< nested
  WorkerTiming timing_;
  std::vector<Window> windows_;
};

WorkerTiming TimingAnalysis::worker(std::span<const std::uint32_t> words, std::uint32_t address,
                                    std::uint32_t vertex_base,
                                    std::span<const double> shares) const {
  return WorkerAnalysis(*this, words, address, vertex_base, shares).run();
}

std::vector<WorkerTiming> TimingAnalysis::launch(std::span<const std::uint32_t> state,
                                                 std::uint32_t address,
                                                 std::uint32_t worker_words) const {
  std::vector<std::uint32_t> words(state.begin(), state.end());
  std::uint32_t base = address;
  std::vector<double> shares;
  if (divide_) {
    base = worker_states_address(address, state.size());
    const WorkerStates divided = divide_(state, address);
    words.resize((base - address) / 4);
    words.insert(words.end(), divided.words.begin(), divided.words.end());
    worker_words = divided.stride;
    shares = divided.shares;
  }
  std::vector<WorkerTiming> workers;
  for (std::uint32_t w = 0; w < workers_; ++w) {
    const std::size_t depth = shares.size() / workers_;
    workers.push_back(worker(words, address, base + 4 * w * worker_words,
                             std::span(shares).subspan(w * depth, depth)));
  }
  return workers;
}

std::uint64_t launch_cycles(const MachineConfig& machine, std::span<const WorkerTiming> workers) {
  std::uint64_t last = 0;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    last = std::max(last, machine.costs.runall + w + workers[w].slots * machine.issue_period());
  }
  return last;
}

}  // namespace superstep::vertex
