#include "sim/tile/worker_context.h"

namespace superstep {

void WorkerContext::observe(const WorkerStep& step) {
  if (step.instructions() == 0) return;
  const TileMemory& memory = port.memory();
  const std::uint64_t cycles = std::uint64_t{step.slots()} * workers;
  IssuedInstruction issued{.context = id,
                           .pc = step.pc,
                           .words = {},
                           .instructions = step.instructions(),
                           .cycle = next_cycle,
                           .cycles = cycles,
                           .register_wait = 0,
                           .slot_wait = 0};
  for (std::uint32_t i = 0; i < step.instructions(); ++i) {
    issued.words[i] = memory.word(step.pc + 4 * i);
  }
  observer->issued(issued);
  cycle = next_cycle;
  next_cycle += cycles;
}

}  // namespace superstep
