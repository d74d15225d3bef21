#include "sim/chip/trap_reporter.h"

#include <algorithm>
#include <utility>

namespace superstep {

void TrapReporter::handle(const Message& message, MachineOutbox&) {
  if (!trap_) trap_ = std::get<Trapped>(message).trap;
}

void TrapReporter::send(MachineOutbox& out, ChipId chip, Trap trap) {
  // Contexts differ in their first letters, but for workers, of which one of a tile has faulted
  // first, and `host` and `host link`: of a visit one of them alone traps.
  trap.chip = chip;
  const std::uint64_t order = std::uint64_t{static_cast<std::uint32_t>(chip)} << 40 |
                              std::uint64_t{index(trap.tile)} << 8 |
                              static_cast<std::uint8_t>(trap.context.front());
  const Cycles cycle = std::max(out.now(), trap.cycle);
  out.send({.time = cycle, .to = this, .source = order, .message = Trapped{std::move(trap)}});
}

}  // namespace superstep
