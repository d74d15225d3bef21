#include "sim/tile/worker_context.h"

namespace superstep {

void WorkerContext::observe(const WorkerStep& step) {
  const StepCost cost = step.own_cost();
  const auto instructions = static_cast<std::uint32_t>(cost.count());
  if (instructions == 0) return;
  const TileMemory& memory = port.memory();
  const std::uint64_t cycles = std::uint64_t{cost.slots()} * workers;
  IssuedInstruction issued{.context = id,
                           .pc = step.pc,
                           .words = {},
                           .instructions = instructions,
                           .cycle = next_cycle,
                           .cycles = cycles,
                           .register_wait = 0,
                           .slot_wait = 0};
  for (std::uint32_t i = 0; i < instructions; ++i) {
    issued.words[i] = memory.word(step.pc + 4 * i);
  }
  observer->issued(issued);
  cycle = next_cycle;
  next_cycle += cycles;
}

}  // namespace superstep
