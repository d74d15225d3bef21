#pragma once

#include <cstring>
#include <type_traits>

#include "isa/instruction.h"
#include "sim/tile/float_mode.h"
#include "isa/operands.h"
#include "sim/tile/worker_environment.h"

// With the checks of a sanitizer in each, flat handlers take a compiler minutes.
#ifdef SUPERSTEP_SANITIZED
#define SUPERSTEP_FLAT
#else
#define SUPERSTEP_FLAT [[gnu::flatten]]
#endif

namespace superstep {

template <class R, class Registers>
auto inputs_of(const WorkerContext& context, const Registers& places, std::uint32_t word) {
  using Operands = typename R::Operands;
  return gather(Operands{}, [&]<class Operand, std::size_t kOrdinal>() {
    using Value = typename Operand::Value;
    if constexpr (Operand::kIsRegister) {
      constexpr std::size_t kSlot = register_slot(Operands{}, kOrdinal);
      Value value;
      std::memcpy(&value, &context.registers[places[kSlot]], sizeof(value));
      return value;
    } else {
      return isa::immediate_of<R, Operand>(word);
    }
  });
}

template <class R, class Floats = OrdinaryFloats, class Registers, class Outputs>
void write_outputs(WorkerContext& context, const Registers& places, const Outputs& outputs) {
  using Operands = typename R::Operands;
  scatter(Operands{}, outputs, [&]<class Operand, std::size_t kOrdinal>(const auto& value) {
    constexpr std::size_t kSlot =
        register_slot(Operands{}, kOrdinal) + (is_input<Operand>() ? 1 : 0);
    using Value = typename Operand::Value;
    const Value typed = [&]() -> Value {
      if constexpr (std::is_convertible_v<decltype(value), Value>) {
        return value;
      } else {
        return Floats::settle(context, value);
      }
    }();
    std::memcpy(&context.registers[places[kSlot]], &typed, sizeof(typed));
  });
}

inline const WorkerStep* stop(WorkerContext& context, const WorkerStep* step,
                              WorkerContext::Stop how, std::uint32_t pc) {
  context.stop = how;
  context.stopped = step;
  context.pc = pc;
  return nullptr;
}

/// The body of an `rpt`, as often as it says.
const WorkerStep* repeat_body(WorkerContext& context, const WorkerStep* step, std::uint32_t count);

/// What follows `step`, which has stored where code may be; null when it has changed code.
const WorkerStep* look_at_code(WorkerContext& context, const WorkerStep* step,
                               std::uint32_t address, std::uint32_t bytes);
/// The same, and goes on there.
const WorkerStep* go_on_after_low_store(WorkerContext& context, const WorkerStep* step,
                                        std::uint32_t address, std::uint32_t bytes);

/// An auxiliary instruction has no access to memory; one that fails leaves its cause.
template <class R, class Floats = OrdinaryFloats>
[[gnu::always_inline]] inline void run_aux(WorkerContext& context, const WorkerStep* step) {
  WorkerEnvironment env(context, step->pc, 8);
  const auto outputs =
      execute_record<R>(env, inputs_of<R>(context, step->aux_registers, step->aux_word));
  write_outputs<R, Floats>(context, step->aux_registers, outputs);
}

/// The second half of a step: none, what `WorkerStep::aux` says, or the instruction R, which cannot
/// fail. `Careful` is the same one for `run_carefully`.
struct NoAux {
  using Careful = NoAux;
  static constexpr bool kMayFail = false;
  static constexpr std::uint32_t kBytes = 4;
  static void run(WorkerContext&, const WorkerStep*) {}
};
struct AnyAux {
  using Careful = AnyAux;
  static constexpr bool kMayFail = true;
  static constexpr std::uint32_t kBytes = 8;
  static void run(WorkerContext& context, const WorkerStep* step) { step->aux(context, step); }
};
template <class R>
struct FixedAux {
  using Careful = AnyAux;
  static constexpr bool kMayFail = false;
  static constexpr std::uint32_t kBytes = 8;
  static void run(WorkerContext& context, const WorkerStep* step) { run_aux<R>(context, step); }
};

/// Stops before `next`, if anything is, to go on there with steps for the new mode.
inline const WorkerStep* change_float_mode(WorkerContext& context, const WorkerStep* step,
                                           const WorkerStep* next) {
  context.cause = nullptr;
  return next == nullptr ? nullptr : stop(context, step, WorkerContext::Stop::kJump, next->pc);
}

/// The end of the main half: it writes; the next step, or null.
template <class R, class Floats, class Env, class Outputs>
[[gnu::always_inline]] inline const WorkerStep* complete(WorkerContext& context,
                                                         const WorkerStep* step, Env& env,
                                                         const Outputs& outputs) {
  write_outputs<R, Floats>(context, step->registers, outputs);
  if constexpr (R::spec.control == isa::Control::kBranch) {
    if (!env.taken()) return step->next;
    if (step->target != nullptr) return step->target;
    return stop(context, step, WorkerContext::Stop::kJump, env.target());
  } else if constexpr (R::spec.control == isa::Control::kRepeat) {
    return repeat_body(context, step, env.repeat_count());
  } else if constexpr (R::spec.control == isa::Control::kExit) {
    return stop(context, step, WorkerContext::Stop::kExit, step->pc);
  } else if constexpr (R::spec.control == isa::Control::kSystem) {
    return context.cause == kFloatModeChange ? change_float_mode(context, step, step->next)
                                             : step->next;
  } else {
    if (env.stored_low()) [[unlikely]] {
      context.waits_of_store = env.waits();
      return look_at_code(context, step, env.stored_at(), env.stored_bytes());
    }
    return step->next;
  }
}

/// What follows the reads and checks of the main half: aux runs, main writes, the straight line
/// goes on. Part of each handler, so that `env` and `outputs` need no place in memory; all calls in
/// it but that of aux are its last ones, so that a handler keeps nothing on the stack.
template <class R, class Aux, class Floats, class Env, class Outputs>
[[gnu::always_inline]] inline const WorkerStep* finish(WorkerContext& context,
                                                       const WorkerStep* step, Env& env,
                                                       const Outputs& outputs) {
  Aux::run(context, step);
  if constexpr (Aux::kMayFail) {
    if (context.cause != nullptr) [[unlikely]] {
      if (R::spec.control == isa::Control::kRepeat || context.cause != kFloatModeChange) {
        return stop(context, step, WorkerContext::Stop::kFault, step->pc);
      }
      return change_float_mode(context, step, complete<R, Floats>(context, step, env, outputs));
    }
  }
  if constexpr (R::spec.control == isa::Control::kPlain) {
    write_outputs<R, Floats>(context, step->registers, outputs);
    if (env.stored_low()) [[unlikely]] {
      context.waits_of_store = env.waits();
      return go_on_after_low_store(context, step, env.stored_at(), env.stored_bytes());
    }
    return step->then(context, step->next);
  } else {
    return complete<R, Floats>(context, step, env, outputs);
  }
}

/// Does again what failed, or what is looked at from the start; knows why.
template <class R, class Aux, class Floats>
[[gnu::noinline]] const WorkerStep* run_carefully(WorkerContext& context, const WorkerStep* step) {
  CarefulEnvironment env(context, step->pc, Aux::kBytes);
  const auto outputs = execute_record<R>(env, inputs_of<R>(context, step->registers, step->word));
  if (env.failed()) return stop(context, step, WorkerContext::Stop::kFault, step->pc);
  context.extra_slots += env.waits();
  return finish<R, Aux, Floats>(context, step, env, outputs);
}

template <class R, class Aux, class Floats = OrdinaryFloats>
const WorkerStep* run_main(WorkerContext& context, const WorkerStep* step) {
  WorkerEnvironment env(context, step->pc, Aux::kBytes);
  const auto outputs = execute_record<R>(env, inputs_of<R>(context, step->registers, step->word));
  if (env.failed()) [[unlikely]]
    return run_carefully<R, typename Aux::Careful, Floats>(context, step);
  return finish<R, Aux, Floats>(context, step, env, outputs);
}

/// A `RunWorkerTurns` of a body of one step. Nothing but registers and memory changes from turn to
/// turn: what the step says is looked up once.
template <class R, class Aux>
std::uint32_t run_main_turns(WorkerContext& context, const WorkerStep* rpt, std::uint32_t turns) {
  // Of a copy compilers know that no store changes it.
  const WorkerStep body = *rpt->next;
  for (; turns > 0; --turns) {
    WorkerEnvironment env(context, body.pc, Aux::kBytes);
    const auto outputs = execute_record<R>(env, inputs_of<R>(context, body.registers, body.word));
    if (env.failed() || env.stored_low()) [[unlikely]]
      break;
    Aux::run(context, &body);
    write_outputs<R>(context, body.registers, outputs);
  }
  return turns;
}

}  // namespace superstep
