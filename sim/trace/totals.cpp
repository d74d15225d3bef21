#include "sim/trace/totals.h"

#include <algorithm>

namespace superstep {

void TraceTotals::add(const SuperstepRow& row) {
  const Cycles rest(row.compute_cycles + row.sync_cycles + row.host_cycles);
  const Cycles exchange(row.exchange_cycles);
  run.cycles = Cycles(row.start_cycle) + exchange + rest;
  run.exchange += exchange;
  run.compute += Cycles(row.compute_cycles);
  run.sync += Cycles(row.sync_cycles);
  run.host += Cycles(row.host_cycles);
  run.worker_instructions += row.instructions;
  ++run.supersteps;
  bytes_exchanged += row.bytes_sent;
  host_bytes += row.host_bytes;
  compute_sum += row.compute_sum;
  compute_max += row.compute_max;

  const auto credit = [&](StepSums& sums, Cycles share) {
    ++sums.count;
    if (share.value() > sums.longest_cycles) {
      sums.longest_cycles = share.value();
      sums.critical_tile = row.critical_tile;
    }
  };
  const std::size_t last = steps.size() - 1;
  StepSums& main = steps[std::min<std::size_t>(row.step, last)];
  StepSums& moved = steps[std::min<std::size_t>(row.exchange_step, last)];
  moved.exchange_cycles += row.exchange_cycles;
  main.compute_cycles += row.compute_cycles;
  main.sync_cycles += row.sync_cycles;
  main.host_cycles += row.host_cycles;
  main.compute_sum += row.compute_sum;
  main.compute_max += row.compute_max;
  if (&main == &moved) {
    credit(main, exchange + rest);
  } else {
    credit(main, rest);
    credit(moved, exchange);
  }
}

}  // namespace superstep
