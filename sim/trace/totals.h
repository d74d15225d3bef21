#pragma once

#include <cstdint>
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/superstep_record.h"
#include "sim/trace/rows.h"
#include "sim/trace/trace.h"

namespace superstep {

/// Steps that run between the same two barriers, whichever tiles they run on, have equal ones.
/// Without a superstep it has one step.
struct StepGroup {
  std::optional<std::uint32_t> superstep, parent;  ///< as StepInfo has them
  bool operator==(const StepGroup&) const = default;
};

/// Those of steps, by number.
template <class Step>
std::vector<StepGroup> groups_of(const std::vector<Step>& steps) {
  std::vector<StepGroup> groups;
  for (const Step& step : steps) groups.push_back({step.superstep, step.parent});
  return groups;
}

/// Totals of a run, from its supersteps; the same whether they come from the machine or from a
/// file.
struct TraceTotals {
  RunTotals run;
  AssumedCycles assumed;
  Visits visits;
  InstructionCounts instructions;  ///< of the workers
  std::uint64_t bytes_exchanged = 0, host_bytes = 0, flops = 0, compute_sum = 0, compute_max = 0;
  std::vector<StepSums> steps;
  // Calls of the program, from 0, of the first superstep, if there is one, and of the last.
  std::optional<std::uint32_t> first_call;
  std::uint32_t last_call = 0;

  explicit TraceTotals(std::vector<StepGroup> group_by_step);
  /// A step number past the last counts as the last. `launches` are those of the superstep.
  void add(const SuperstepRow& row, std::span<const LaunchRow> launches);
  /// Calls `visit(step, runs)` for each step that takes part in a superstep.
  void for_each_executed(const SuperstepRow& row, std::span<const LaunchRow> launches,
                         const std::function<void(std::size_t, std::uint64_t)>& visit) const;

  [[nodiscard]] Cycles device() const { return run.device(); }
  /// Calls that ended before the last superstep.
  [[nodiscard]] std::uint32_t calls_ended() const {
    return last_call - std::min(first_call.value_or(last_call), last_call);
  }
  /// The tiles' mean compute cycles over their maximum; 1 when nothing was computed.
  [[nodiscard]] double balance(std::uint64_t tiles) const;
  /// The tiles' mean compute cycles over device cycles.
  [[nodiscard]] double bsp_efficiency(std::uint64_t tiles) const;

 private:
  /// The first and the last step that run in the superstep of one, whichever tiles they run on, and
  /// others between them.
  [[nodiscard]] std::pair<std::size_t, std::size_t> together_with(std::size_t step) const;
  [[nodiscard]] std::size_t number(std::uint32_t step) const {
    return std::min<std::size_t>(step, steps.size() - 1);
  }
  /// Whether one counts when the other does.
  [[nodiscard]] bool are_together(std::size_t a, std::size_t b) const {
    return a == b || (groups_[a].superstep && groups_[a] == groups_[b]);
  }

  std::vector<StepGroup> groups_;
  // Of the superstep before:
  std::size_t step_before_ = 0;
  Cycles visit_begin_before_;
};

/// The totals of one step, without what the program says of it.
[[nodiscard]] StepTotals step_totals(const StepSums& sums);

}  // namespace superstep
