#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "isa/values.h"
#include "sim/instruction_counts.h"
#include "sim/tile/instruction_observer.h"
#include "sim/tile/memory_port.h"
#include "sim/tile/race_finder.h"
#include "sim/tile/step_cost.h"
#include "sim/tile/weights.h"
#include "sim/trap.h"

namespace superstep {

struct AmpLine;
struct WorkerContext;
struct WorkerStep;

/// Executes a step; returns the next one, or null with `WorkerContext::stop` set.
using RunWorkerStep = const WorkerStep* (*)(WorkerContext&, const WorkerStep*);
/// Executes the auxiliary half of a bundle.
using RunAuxHalf = void (*)(WorkerContext&, const WorkerStep*);

/// Executes the body of `rpt`, so many turns or fewer; how many are left, of which the first is one
/// for `WorkerStep::run`.
using RunWorkerTurns = std::uint32_t (*)(WorkerContext&, const WorkerStep* rpt,
                                         std::uint32_t turns);

/// What an `rpt` repeats.
struct RepeatedBody {
  const WorkerStep* end = nullptr;  ///< what follows it
  RunWorkerTurns run = nullptr;     ///< of a body that has a loop of its own
  const AmpLine* line = nullptr;    ///< all of it, if it is one
  std::uint64_t slots = 0;          ///< of one turn
  InstructionCounts instructions;   ///< likewise
};

/// Of a step that cannot be executed.
struct StepFault {
  TrapKind kind;
  std::string cause;
};

/// A predecoded instruction or bundle. Steps of a straight line run on to each other: only the
/// last one gives back what comes next.
struct WorkerStep {
  RunWorkerStep run = nullptr;
  const WorkerStep* next = nullptr;
  union {
    const WorkerStep* target = nullptr;  ///< of a direct branch
    const RepeatedBody* body;            ///< of `rpt`
    const StepFault* fault;
    const AmpLine* line;  ///< that begins with the step
  };
  RunAuxHalf aux = nullptr;
  RunWorkerStep then = give_back;  ///< what `run` leaves to, with `next`; or the `run` of that
  std::uint32_t word = 0;
  std::uint32_t aux_word = 0;
  std::uint32_t pc = 0;
  std::array<std::uint8_t, 6> registers{};
  std::array<std::uint8_t, 6> aux_registers{};
  StepCost cost;  ///< of the step and those that it runs on to

  [[nodiscard]] bool runs_on() const { return then != give_back; }
  [[nodiscard]] StepCost own_cost() const { return runs_on() ? cost - next->cost : cost; }
  static const WorkerStep* give_back(WorkerContext&, const WorkerStep* step) { return step; }
};

/// Places in `WorkerContext::registers`: $m, $a, zeros to read, a sink to write.
inline constexpr std::uint8_t kAuxRegisters = 16, kZeroRegisters = 32, kSinkRegisters = 36;

/// State of a running worker.
struct WorkerContext {
  enum class Stop : std::uint8_t { kExit, kJump, kFault, kInterrupted };

  WorkerContext(const MachineConfig& machine, TileMemory& memory, const Weights& tile_weights,
                std::uint32_t number)
      : port(machine, memory),
        weights(&tile_weights),
        period(machine.issue_period()),
        id(number),
        stalls(machine.tile.bank_conflicts == BankConflicts::kStall) {}

  /// Makes it that of a worker before its first instruction. Registers and random numbers go on
  /// from launch to launch: codelets of PopLibs leave addresses for the next one
  /// (graphcore/poplibs lib/poplin/codelets/asm/conv_partial_1x1_supervisor.S).
  void begin() {
    // By vectors, because what a compiler makes of `fill` takes as long as a short worker.
    using Vector = float __attribute__((vector_size(32)));
    const Vector zeros{};
    for (std::size_t i = 0; i < accumulators.size(); i += 8) {
      std::memcpy(&accumulators[i], &zeros, sizeof(zeros));
    }
    tas = 0;
    fp = {};
    moded = fp_status_watched = false;
    cause = nullptr;
    kind = TrapKind::kProgram;
    extra_slots = 0;
    repeat = {};
    last_repeat = nullptr;
    races = nullptr;
    port.open();
  }

  /// xoroshiro128aox (Hanlon and Felix, arXiv 2203.04058).
  std::uint64_t next_random() {
    auto& [s0, s1] = random;
    const std::uint64_t either = s0 ^ s1, both = s0 & s1;
    const std::uint64_t out = either ^ (std::rotl(both, 1) | std::rotl(both, 2));
    s0 = std::rotl(s0, 55) ^ either ^ either << 14;
    s1 = std::rotl(either, 36);
    return out;
  }

  // No access of a host that takes several of them crosses one of its lines.
  alignas(64) std::array<isa::U32, 40> registers{};
  alignas(64) std::array<float, 32> accumulators{};  ///< the even ones, then the odd ones
  MemoryPort port;
  const Weights* weights;
  std::uint32_t period;  ///< cycles from a slot to the next
  std::uint32_t id;
  bool stalls;  ///< conflicts of banks take slots
  std::uint32_t tas = 0;
  struct {
    std::uint32_t control = 0, status = 0, format = 0, scale = 0;
  } fp;                              ///< $FP_CTL, $FP_STS, $FP_NFMT, $FP_SCL
  bool moded = false;                ///< not in the ordinary mode of floating point
  bool fp_status_watched = false;    ///< that is so whatever $FP_CTL holds
  std::array<isa::U64, 2> random{};  ///< state of the generator
  RaceFinder* races = nullptr;       ///< who wants to know of each access
  RaceFinder::RunNumber race_run = 0;
  Stop stop = Stop::kExit;
  TrapKind kind = TrapKind::kProgram;  ///< of the cause
  const char* cause = nullptr;
  const WorkerStep* stopped = nullptr;      ///< the step that set `stop`
  std::uint32_t pc = 0;                     ///< of the fault; where to go on after kJump
  std::uint64_t extra_slots = 0;            ///< of turns of `rpt` bodies, and of stalls
  InstructionCounts repeated_instructions;  ///< of turns of `rpt` bodies, of all launches
  std::uint64_t lines_at_once = 0;          ///< lines of AMP bundles, or loops of them, likewise
  /// Who wants to see each step: they run one by one, and `rpt` leaves in `repeat` how often its
  /// body does.
  InstructionObserver* observer = nullptr;
  struct {
    const WorkerStep* first = nullptr;
    const WorkerStep* end = nullptr;
    std::uint32_t turns = 0;  ///< of the body, with the one that runs
  } repeat;
  const WorkerStep* last_repeat = nullptr;  ///< the `rpt` of this launch that was last executed
  std::uint64_t next_cycle = 0;             ///< of the next step, where they run one by one
  std::uint64_t cycle = 0;                  ///< of the last one
  std::uint32_t waits_of_store = 0;         ///< slots in `extra_slots` of one that changed code
  std::string named_cause;  ///< what `cause` is of, where it names addresses or a number

  /// Of a worker that is not running: what the next launch finds, and what can be looked at.
  template <class Archive>
  void state(Archive& archive) {
    auto& [m, acc, port_of, cwei, slot, number, stall, table, floats, is_moded, watched, generator,
           checker, run, why_stopped, why_kind, why, last, at, more_slots, repeated, lines, watcher,
           body, last_rpt, following, current, store_waits, why_named] = *this;
    archive(m, acc, table, floats.control, floats.status, floats.format, floats.scale, generator,
            at, repeated, following, current);
    if constexpr (Archive::kReads) {
      is_moded = watched = false;
      checker = nullptr;
    }
  }

  /// What an observer is told of a step that is about to run, if it has an instruction.
  [[nodiscard]] std::optional<IssuedInstruction> issued(const WorkerStep& step);
  /// A step takes its cycles, if it is no fault.
  void pass(const WorkerStep& step) {
    const StepCost cost = step.own_cost();
    if (cost.count() == 0) return;
    cycle = next_cycle;
    next_cycle += std::uint64_t{cost.slots()} * period;
  }

  /// Stops it with a fault at `pc`.
  void fail(const char* why, std::uint32_t at, TrapKind what = TrapKind::kProgram) {
    stop = Stop::kFault;
    cause = why;
    kind = what;
    pc = at;
  }
  /// A step of an `rpt` body gave back nothing: where others go on behind changed code, a body does
  /// not. A fault is dated to the slot of its instruction.
  void stop_in_body() {
    if (stop != Stop::kJump) return;
    fail("a store over code inside an rpt body", stopped->pc);
    extra_slots -= waits_of_store;
  }
};

}  // namespace superstep
