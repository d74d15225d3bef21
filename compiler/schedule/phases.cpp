#include "compiler/schedule/phases.h"

#include "base/each_index.h"

namespace superstep {

std::vector<ExchangePhase> PhaseScheduler::schedule(std::size_t count,
                                                    const TransfersOf& transfers_of) {
  std::vector<ExchangePhase> phases(count);
  const auto schedule_phase = [&](std::size_t phase) {
    const std::vector<Transfer> transfers = transfers_of(phase);
    if (transfers.empty()) return;
    phases[phase] = schedule_exchange(machine_, transfers, participants_, cache_, list_messages_);
  };
  each_index(count, 1, schedule_phase);
  return phases;
}

}  // namespace superstep
