#include "sim/tile/worker_handlers.h"

#include "isa/instructions.h"
#include "sim/tile/worker_execution.h"

namespace superstep {

namespace {

/// Slots of the steps of an unfinished turn before the one that stopped.
void count_partial_turn(WorkerContext& context, const WorkerStep* step, const WorkerStep* end) {
  for (; step != end && step->pc != context.pc; step = step->next) {
    const StepCost cost = step->own_cost();
    context.extra_slots += cost.slots();
    context.repeated_instructions += cost.instructions();
  }
}

void count_turns(WorkerContext& context, const RepeatedBody& body, std::uint64_t turns) {
  context.extra_slots += body.slots * turns;
  context.repeated_instructions += body.instructions * turns;
}

const WorkerStep* run_turns(WorkerContext& context, const WorkerStep* step, std::uint32_t count) {
  const RepeatedBody& body = *step->body;
  const WorkerStep* const end = body.end;
  const WorkerStep* const first = step->next;
  const std::uint32_t left = body.run == nullptr ? count : body.run(context, step, count);
  for (std::uint32_t turn = count - left; turn < count; ++turn) {
    const WorkerStep* inner = first;
    do {
      inner = inner->run(context, inner);
      if (inner == nullptr) [[unlikely]] {
        count_turns(context, body, turn);
        context.stop_in_body();
        count_partial_turn(context, first, end);
        return nullptr;
      }
    } while (inner != end);
  }
  count_turns(context, body, count);
  return end;
}

template <class R>
WorkerHandlers handlers_of() {
  WorkerHandlers handlers;
  if constexpr (R::spec.where != isa::Where::kSupervisor) {
    using Inputs =
        decltype(inputs_of<R>(std::declval<WorkerContext&>(), WorkerStep().registers, 0));
    handlers.pure = kIsPure<R, Inputs>;
    handlers.solo = run_main<R, NoAux>;
    if constexpr (R::spec.pipe == isa::Pipe::kMain) {
      handlers.bundle = run_main<R, AnyAux>;
    } else {
      handlers.aux = run_aux<R>;
    }
  }
  return handlers;
}

template <class R>
WorkerHandlers careful_handlers_of() {
  WorkerHandlers handlers = handlers_of<R>();
  if (handlers.pure) return handlers;
  if constexpr (R::spec.where != isa::Where::kSupervisor) {
    handlers.solo = run_carefully<R, NoAux, OrdinaryFloats>;
    if constexpr (R::spec.pipe == isa::Pipe::kMain) {
      handlers.bundle = run_carefully<R, AnyAux, OrdinaryFloats>;
    }
  }
  return handlers;
}

template <class... Records>
std::vector<WorkerHandlers> build(isa::List<Records...>) {
  return {handlers_of<Records>()...};
}
template <class... Records>
std::vector<WorkerHandlers> build_careful(isa::List<Records...>) {
  return {careful_handlers_of<Records>()...};
}

}  // namespace

const WorkerStep* look_at_code(WorkerContext& context, const WorkerStep* step,
                               std::uint32_t address, std::uint32_t bytes) {
  TileMemory& memory = context.port.memory();
  if (!memory.decoded(address, bytes)) return step->next;
  memory.touched();
  return stop(context, step, WorkerContext::Stop::kJump, step->next->pc);
}

const WorkerStep* go_on_after_low_store(WorkerContext& context, const WorkerStep* step,
                                        std::uint32_t address, std::uint32_t bytes) {
  const WorkerStep* const next = look_at_code(context, step, address, bytes);
  return next == nullptr ? nullptr : step->then(context, next);
}

const WorkerStep* repeat_body(WorkerContext& context, const WorkerStep* step, std::uint32_t count) {
  context.last_repeat = step;
  if (context.observer == nullptr) return run_turns(context, step, count);
  context.repeat = {step->next, step->body->end, count};
  return count == 0 ? step->body->end : step->next;
}

const std::vector<WorkerHandlers>& worker_handlers() {
  static const std::vector<WorkerHandlers> handlers = build(isa::Isa{});
  return handlers;
}

const std::vector<WorkerHandlers>& careful_worker_handlers() {
  static const std::vector<WorkerHandlers> handlers = build_careful(isa::Isa{});
  return handlers;
}

}  // namespace superstep
