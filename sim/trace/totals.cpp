#include "sim/trace/totals.h"

#include <algorithm>
#include <utility>

namespace superstep {

TraceTotals::TraceTotals(std::vector<StepGroup> group_by_step)
    : steps(group_by_step.size()), groups_(std::move(group_by_step)) {}

std::pair<std::size_t, std::size_t> TraceTotals::together_with(std::size_t step) const {
  // Loops and branches, which are in no superstep, and their steps may be between them.
  const auto may_be_between = [&](std::size_t s) {
    return !groups_[s].superstep || groups_[s].superstep == groups_[step].superstep;
  };
  std::size_t first = step, last = step;
  if (groups_[step].superstep) {
    while (first > 0 && may_be_between(first - 1)) --first;
    while (last + 1 < steps.size() && may_be_between(last + 1)) ++last;
  }
  return {first, last};
}

void TraceTotals::for_each_executed(
    const SuperstepRow& row, std::span<const LaunchRow> launches,
    const std::function<void(std::size_t, std::uint64_t)>& visit) const {
  const std::size_t main = number(row.step), moved = number(row.exchange_step);
  const auto runs_of = [&](std::size_t step) {
    const auto launch = std::ranges::find(
        launches, step, [&](const LaunchRow& launched) { return number(launched.step); });
    if (launch == launches.end()) return std::uint64_t{1};
    // The first step has a row where another tile launches it, too.
    const bool is_left_out = launch->runs == 0 && launch->cycles == 0 && step != main;
    return is_left_out ? 0 : std::max<std::uint64_t>(launch->runs, 1);
  };
  std::vector<std::size_t> visited;
  const auto visit_with = [&](std::size_t step) {
    if (std::ranges::any_of(visited, [&](std::size_t s) { return are_together(s, step); })) return;
    visited.push_back(step);
    const auto [first, last] = together_with(step);
    for (std::size_t s = first; s <= last; ++s) {
      if (are_together(s, step)) visit(s, runs_of(s));
    }
  };
  visit_with(main);
  visit_with(moved);
  // Of a loop, or behind one.
  for (const LaunchRow& launch : launches) visit_with(number(launch.step));
}

void TraceTotals::add(const SuperstepRow& row, std::span<const LaunchRow> launches) {
  run.exchange += row.exchange;
  run.compute += row.compute;
  run.sync += row.sync;
  run.host += row.host;
  if (is_assumed(row.exchange_source)) assumed.exchange += row.exchange;
  if (is_assumed(row.compute_source)) assumed.compute += row.compute;
  if (is_assumed(row.sync_source)) assumed.sync += row.sync - row.visit_callbacks;
  if (is_assumed(row.callback_source)) assumed.sync += row.visit_callbacks;
  if (is_assumed(row.host_source)) assumed.host += row.host;
  if (row.host.value() != 0) ++visits.count;
  visits.begin += row.visit_begin;
  visits.callbacks += row.visit_callbacks;
  visits.end += row.visit_end;
  run.cycles += row.exchange + row.compute + row.sync + row.host;
  run.worker_instructions += row.worker_instructions.all;
  instructions += row.worker_instructions;
  ++run.supersteps;
  if (!first_call) first_call = row.call;
  last_call = row.call;
  bytes_exchanged += row.exchange_bytes;
  host_bytes += row.host_bytes;
  flops += row.flops;
  compute_sum += row.compute_sum;
  compute_max += row.compute_max;

  for_each_executed(row, launches, [&](std::size_t step, std::uint64_t runs) {
    if (runs == 0) return;
    ++steps[step].count;
    steps[step].runs += runs;
  });
  const std::size_t main = number(row.step), moved = number(row.exchange_step);

  // A visit to the host begins in the superstep before its own; all of it is of its own step.
  const bool is_visit = row.host.value() != 0;
  const Cycles begin = is_visit ? visit_begin_before_ : Cycles();
  steps[step_before_].sync -= begin;
  steps[main].sync += begin;
  step_before_ = main;
  visit_begin_before_ = row.visit_begin;

  steps[moved].exchange += row.exchange;
  steps[main].sync += row.sync;
  steps[main].host += row.host;
  steps[main].compute_sum += row.compute_sum;
  steps[main].compute_max += row.compute_max;
  steps[main].instructions += row.worker_instructions;
  const auto credit = [&](std::size_t step, Cycles share) {
    StepSums& sums = steps[step];
    if (share <= sums.longest) return;
    sums.longest = share;
    sums.critical_tile = row.critical;
  };
  Cycles of_main = row.sync - row.visit_begin + row.host + begin;
  if (moved == main) {
    of_main += row.exchange;
  } else {
    credit(moved, row.exchange);
  }
  for (const LaunchRow& launch : launches) {
    const std::size_t step = number(launch.step);
    steps[step].compute += Cycles(launch.cycles);
    if (step == main) {
      of_main += Cycles(launch.cycles);
    } else {
      credit(step, Cycles(launch.cycles));
    }
  }
  credit(main, of_main);
}

double TraceTotals::balance(std::uint64_t tiles) const {
  const double most = static_cast<double>(compute_max) * static_cast<double>(tiles);
  return most == 0 ? 1 : static_cast<double>(compute_sum) / most;
}

double TraceTotals::bsp_efficiency(std::uint64_t tiles) const {
  const double all = static_cast<double>(device().value()) * static_cast<double>(tiles);
  return all == 0 ? 0 : static_cast<double>(compute_sum) / all;
}

StepTotals step_totals(const StepSums& sums) {
  StepTotals step;
  step.count = sums.count;
  step.runs = sums.runs;
  step.exchange = sums.exchange;
  step.compute = sums.compute;
  step.sync = sums.sync;
  step.host = sums.host;
  step.cycles = step.exchange + step.compute + step.sync + step.host;
  step.worst = sums.critical_tile;
  step.tile_cycles = sums.compute_sum;
  step.peak_cycles = sums.compute_max;
  step.instructions = sums.instructions;
  return step;
}

void TraceSummary::count_calls(const TraceTotals& sums) {
  calls = sums.calls_ended();
  predicted = {};  // that of the others would have no measure beside it
}

void TraceSummary::add_totals(const TraceTotals& sums) {
  totals = sums.run;
  assumed = sums.assumed;
  visits = sums.visits;
  exchange_bytes = sums.bytes_exchanged;
  host_bytes = sums.host_bytes;
  flops = sums.flops;
  instructions = sums.instructions;
  tile_cycles = sums.compute_sum;
  balance = sums.balance(tiles_used);
  bsp_efficiency = sums.bsp_efficiency(tiles_used);
}

}  // namespace superstep
