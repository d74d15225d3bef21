#include "sim/trace/totals.h"

#include <algorithm>
#include <utility>

namespace superstep {

TraceTotals::TraceTotals(std::vector<StepGroup> group_by_step)
    : steps(group_by_step.size()), groups_(std::move(group_by_step)) {}

/// Counts a step and those that run in its superstep, whichever tiles they run on.
void TraceTotals::count_with(std::size_t step) {
  // Loops and branches, which are in no superstep, and their steps may be between them.
  const auto may_be_between = [&](std::size_t s) {
    return groups_[s].superstep < 0 || groups_[s].superstep == groups_[step].superstep;
  };
  std::size_t first = step, last = step;
  if (groups_[step].superstep >= 0) {
    while (first > 0 && may_be_between(first - 1)) --first;
    while (last + 1 < steps.size() && may_be_between(last + 1)) ++last;
  }
  for (std::size_t s = first; s <= last; ++s) {
    if (are_together(s, step)) count(s);
  }
}

void TraceTotals::add(const SuperstepRow& row, std::span<const LaunchRow> launches) {
  run.exchange += Cycles(row.exchange_cycles);
  run.compute += Cycles(row.compute_cycles);
  run.sync += Cycles(row.sync_cycles);
  run.host += Cycles(row.host_cycles);
  run.cycles = Cycles(row.start_cycle + row.exchange_cycles + row.compute_cycles + row.sync_cycles +
                      row.host_cycles);
  run.worker_instructions += row.instructions;
  ++run.supersteps;
  bytes_exchanged += row.bytes_sent;
  host_bytes += row.host_bytes;
  flops += row.flops;
  compute_sum += row.compute_sum;
  compute_max += row.compute_max;

  const auto number = [&](std::uint32_t step) {
    return std::min<std::size_t>(step, steps.size() - 1);
  };
  const std::size_t main = number(row.step), moved = number(row.exchange_step);
  count_with(main);
  if (!are_together(main, moved)) count(moved);
  std::vector<std::size_t> counted{main};

  steps[moved].exchange_cycles += row.exchange_cycles;
  steps[main].sync_cycles += row.sync_cycles;
  steps[main].host_cycles += row.host_cycles;
  steps[main].compute_sum += row.compute_sum;
  steps[main].compute_max += row.compute_max;
  const auto credit = [&](std::size_t step, std::uint64_t share) {
    StepSums& sums = steps[step];
    if (share <= sums.longest_cycles) return;
    sums.longest_cycles = share;
    sums.critical_tile = row.critical_tile;
  };
  std::uint64_t of_main = row.sync_cycles + row.host_cycles;
  if (moved == main) {
    of_main += row.exchange_cycles;
  } else {
    credit(moved, row.exchange_cycles);
  }
  for (const LaunchRow& launch : launches) {
    const std::size_t step = number(launch.step);
    // Of a loop, or behind one.
    if (std::ranges::none_of(counted, [&](std::size_t c) { return are_together(c, step); })) {
      count_with(step);
      counted.push_back(step);
    }
    steps[step].compute_cycles += launch.cycles;
    // Once is counted with the superstep.
    if (launch.runs > 1) steps[step].runs += launch.runs - 1;
    if (step == main) {
      of_main += launch.cycles;
    } else {
      credit(step, launch.cycles);
    }
  }
  credit(main, of_main);
}

StepTotals step_totals(const StepSums& sums) {
  StepTotals step;
  step.count = sums.count;
  step.runs = sums.runs;
  step.exchange = Cycles(sums.exchange_cycles);
  step.compute = Cycles(sums.compute_cycles);
  step.sync = Cycles(sums.sync_cycles);
  step.host = Cycles(sums.host_cycles);
  step.cycles = step.exchange + step.compute + step.sync + step.host;
  step.worst = TileId{sums.critical_tile};
  step.tile_cycles = sums.compute_sum;
  step.peak_cycles = sums.compute_max;
  return step;
}

void TraceSummary::add_totals(const TraceTotals& sums) {
  totals = sums.run;
  exchange_bytes = sums.bytes_exchanged;
  host_bytes = sums.host_bytes;
  flops = sums.flops;
  if (tiles_used == 0) return;
  const auto used = static_cast<double>(tiles_used), sum = static_cast<double>(sums.compute_sum);
  const Cycles device = totals.exchange + totals.compute + totals.sync;
  if (sums.compute_max != 0) balance = sum / (static_cast<double>(sums.compute_max) * used);
  if (device.value() != 0) bsp_efficiency = sum / (static_cast<double>(device.value()) * used);
}

}  // namespace superstep
