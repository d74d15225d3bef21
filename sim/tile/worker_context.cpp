#include "sim/tile/worker_context.h"

namespace superstep {

std::optional<IssuedInstruction> WorkerContext::issued(const WorkerStep& step) {
  const StepCost cost = step.own_cost();
  const auto instructions = static_cast<std::uint32_t>(cost.count());
  if (instructions == 0) return std::nullopt;
  const TileMemory& memory = port.memory();
  IssuedInstruction issued{.context = id,
                           .pc = step.pc,
                           .words = {},
                           .instructions = instructions,
                           .cycle = next_cycle,
                           .cycles = std::uint64_t{cost.slots()} * period,
                           .register_wait = 0,
                           .slot_wait = 0};
  for (std::uint32_t i = 0; i < instructions; ++i) {
    issued.words[i] = memory.word(step.pc + 4 * i);
  }
  return issued;
}

}  // namespace superstep
