#include "compiler/schedule/phases.h"

#include <tbb/parallel_for.h>

namespace superstep {

std::vector<ExchangePhase> PhaseScheduler::schedule(std::size_t count,
                                                    const TransfersOf& transfers_of) {
  std::vector<ExchangePhase> phases(count);
  const auto schedule_phase = [&](std::size_t phase) {
    const std::vector<Transfer> transfers = transfers_of(phase);
    if (transfers.empty()) return;
    phases[phase] = schedule_exchange(machine_, transfers, participants_, cache_, list_messages_);
  };
  // The other partitioners share flags between threads in headers, where TSan sees them as races.
  tbb::parallel_for(std::size_t{0}, count, schedule_phase, tbb::simple_partitioner());
  return phases;
}

}  // namespace superstep
