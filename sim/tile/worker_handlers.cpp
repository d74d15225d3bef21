#include "sim/tile/worker_handlers.h"

#include <cstring>

#include "isa/instructions.h"
#include "sim/tile/operands.h"
#include "sim/tile/worker_environment.h"

namespace superstep {

namespace {

using isa::Control;
using isa::Pipe;

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

template <class R, class Registers, class Outputs>
void write_outputs(WorkerContext& context, const Registers& places, const Outputs& outputs) {
  using Operands = typename R::Operands;
  scatter(Operands{}, outputs, [&]<class Operand, std::size_t kOrdinal>(const auto& value) {
    constexpr std::size_t kSlot =
        register_slot(Operands{}, kOrdinal) + (is_input<Operand>() ? 1 : 0);
    const typename Operand::Value typed = value;
    std::memcpy(&context.registers[places[kSlot]], &typed, sizeof(typed));
  });
}

const WorkerStep* stop(WorkerContext& context, WorkerContext::Stop how, std::uint32_t pc) {
  context.stop = how;
  context.pc = pc;
  return nullptr;
}

/// Slots of the steps of an unfinished turn before the one that stopped.
void count_partial_turn(WorkerContext& context, const WorkerStep* step, const WorkerStep* end) {
  for (; step != end && step->pc != context.pc; step = step->next) {
    context.extra_slots += step->slots;
    context.extra_instructions += step->instructions;
  }
}

/// The body of an `rpt`, as often as it says.
const WorkerStep* repeat_body(WorkerContext& context, const WorkerStep* step, std::uint32_t count,
                              std::uint32_t bundles) {
  const WorkerStep* const end = step->target;
  const WorkerStep* const first = step->next;
  for (std::uint32_t turn = 0; turn < count; ++turn) {
    const WorkerStep* inner = first;
    do {
      inner = inner->run(context, inner);
      if (inner == nullptr) [[unlikely]] {
        context.extra_slots += std::uint64_t{turn} * step->body_slots;
        context.extra_instructions += std::uint64_t{turn} * bundles * 2;
        if (context.stop == WorkerContext::Stop::kJump) {
          context.cause = "a store over code inside an rpt body";
          context.stop = WorkerContext::Stop::kFault;
        }
        count_partial_turn(context, first, end);
        return nullptr;
      }
    } while (inner != end);
  }
  context.extra_slots += std::uint64_t{count} * step->body_slots;
  context.extra_instructions += std::uint64_t{count} * bundles * 2;
  return end;
}

/// What follows the reads and checks of the main half: aux runs, main writes.
template <class R, bool kBundle, class Env, class Outputs>
const WorkerStep* finish(WorkerContext& context, const WorkerStep* step, Env& env,
                         const Outputs& outputs) {
  if constexpr (kBundle) {
    step->aux(context, step);
    if (context.cause != nullptr) [[unlikely]] {
      return stop(context, WorkerContext::Stop::kFault, step->pc);
    }
  }
  write_outputs<R>(context, step->registers, outputs);
  if constexpr (R::spec.control == Control::kBranch) {
    if (!env.taken()) return step->next;
    if (step->target != nullptr) return step->target;
    return stop(context, WorkerContext::Stop::kJump, env.target());
  } else if constexpr (R::spec.control == Control::kRepeat) {
    return repeat_body(context, step, env.repeat_count(), env.repeat_bundles());
  } else if constexpr (R::spec.control == Control::kExit) {
    return stop(context, WorkerContext::Stop::kExit, step->pc);
  } else {
    if (env.stored_low() && env.touched_code()) [[unlikely]] {
      context.port.memory().touched();
      return stop(context, WorkerContext::Stop::kJump, step->next->pc);
    }
    return step->next;
  }
}

/// Does again what failed; knows why.
template <class R, bool kBundle>
[[gnu::cold, gnu::noinline]] const WorkerStep* run_carefully(WorkerContext& context,
                                                             const WorkerStep* step) {
  CarefulEnvironment env(context, step->pc, kBundle ? 8 : 4);
  const auto outputs = execute_record<R>(env, inputs_of<R>(context, step->registers, step->word));
  if (env.failed()) return stop(context, WorkerContext::Stop::kFault, step->pc);
  return finish<R, kBundle>(context, step, env, outputs);
}

template <class R, bool kBundle>
const WorkerStep* run_main(WorkerContext& context, const WorkerStep* step) {
  WorkerEnvironment env(context, step->pc, kBundle ? 8 : 4);
  const auto outputs = execute_record<R>(env, inputs_of<R>(context, step->registers, step->word));
  if (env.failed()) [[unlikely]]
    return run_carefully<R, kBundle>(context, step);
  return finish<R, kBundle>(context, step, env, outputs);
}

/// An auxiliary instruction has no access to memory; one that fails leaves its cause.
template <class R>
void run_aux(WorkerContext& context, const WorkerStep* step) {
  WorkerEnvironment env(context, step->pc, 8);
  const auto outputs =
      execute_record<R>(env, inputs_of<R>(context, step->aux_registers, step->aux_word));
  write_outputs<R>(context, step->aux_registers, outputs);
}

template <class R>
WorkerHandlers handlers_of() {
  WorkerHandlers handlers;
  if constexpr (R::spec.where != isa::Where::kSupervisor) {
    using Inputs =
        decltype(inputs_of<R>(std::declval<WorkerContext&>(), WorkerStep().registers, 0));
    handlers.pure = kIsPure<R, Inputs>;
    handlers.solo = run_main<R, false>;
    if constexpr (R::spec.pipe == Pipe::kMain) {
      handlers.bundle = run_main<R, true>;
    } else {
      handlers.aux = run_aux<R>;
    }
  }
  return handlers;
}

template <class... Records>
std::vector<WorkerHandlers> build(isa::List<Records...>) {
  return {handlers_of<Records>()...};
}

}  // namespace

const std::vector<WorkerHandlers>& worker_handlers() {
  static const std::vector<WorkerHandlers> handlers = build(isa::Isa{});
  return handlers;
}

}  // namespace superstep
