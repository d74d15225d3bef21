#include "sim/tile/interpreter.h"

namespace superstep {

std::uint64_t Interpreter::run_lines(WorkerContext& worker, const WorkerStep* step) {
  std::uint64_t slots = 0;
  std::uint64_t unchecked = 0;  ///< instructions since the worker was last looked at
  while (true) {
    StepCost cost;
    const WorkerStep* last = step;
    const auto go_on = [&] {
      last = step;
      cost += step->cost;
      step = step->run(worker, step);
      return step != nullptr;
    };
    // Several steps a round: the host predicts each call by its place, and jumps back less often.
    while (go_on() && go_on() && go_on() && go_on() &&
           cost.count() < WorkerMeter::kInstructionsOfTurn) {
    }
    bool in_line = false;  // whether what stopped was no turn of a repeated body
    if (step == nullptr) {
      for (const WorkerStep* at = last; !in_line; at = at->next) {
        in_line = at == worker.stopped;
        if (!at->runs_on()) break;
        // The steps behind it were counted and have not run.
        if (in_line) cost -= at->next->cost;
      }
      // Nor is one counted that faulted: that is dated to its slot.
      if (in_line && worker.stop == WorkerContext::Stop::kFault) cost -= worker.stopped->own_cost();
    }
    slots += cost.slots();
    meter_.count(cost);
    unchecked += cost.count();
    if (step == nullptr) {
      if (worker.stop != WorkerContext::Stop::kJump) return slots;
      step = codes_.step_at(worker, worker.pc);
      if (codes_.current()->reads_cycle_counter()) [[unlikely]]
        return slots;
      if (unchecked < WorkerMeter::kInstructionsOfTurn) continue;
    }
    unchecked = 0;
    if (meter_.gives_up(worker, step, slots + worker.extra_slots)) return slots;
  }
}

std::uint64_t Interpreter::run(WorkerContext& worker, const WorkerStep* step) {
  const std::uint64_t before = worker.extra_slots;  // those of steps in turn are in `next_cycle`
  const std::uint64_t slots = run_lines(worker, step);
  return slots + worker.extra_slots - before;
}

}  // namespace superstep
