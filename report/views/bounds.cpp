#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/report.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// What a group of operations took, and of it what was lost.
struct Row {
  std::string name;
  Cycles cycles{}, bound{}, imbalance{}, schedule{}, barriers{};

  [[nodiscard]] Cycles lost() const { return imbalance + schedule + barriers; }
};

/// Groups that took device cycles, those that lost most first. Each part of a step is rounded once,
/// so that sums are the same by all groupings.
std::vector<Row> rows_by(const ViewInput& input) {
  const std::vector<Cycles> even = even_cycles(input.file, input.trace);
  std::map<std::string, Row> by_name;
  for (std::size_t s = 0; s < even.size(); ++s) {
    const StepTotals& step = input.trace.steps[s];
    for (const auto& [operation, share] : parts_of(step)) {
      const OperationTotals taken = taken_by(share, step);
      if (taken.device().value() == 0) continue;
      const std::string name = group_of(step, operation, input.options.group_by);
      if (!matches(input.options, name)) continue;
      const Cycles of_even(share.of(even[s].value(), step.compute.value()));
      const Cycles words = taken.exchange_bound;
      Row& row = by_name.try_emplace(name, Row{.name = name}).first->second;
      row.cycles += taken.device();
      row.bound += of_even + words;
      row.imbalance += taken.compute - of_even;
      row.schedule += taken.exchange - words;
      row.barriers += taken.sync;
    }
  }
  std::vector<Row> rows;
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return a.lost() != b.lost() ? a.lost() > b.lost() : a.cycles > b.cycles;
  });
  return rows;
}

}  // namespace

std::vector<Cycles> even_cycles(const TraceFile& file, const TraceSummary& trace) {
  const std::vector<StepTotals>& steps = trace.steps;
  const std::uint64_t tiles = std::max<std::uint64_t>(trace.tiles_used, 1);
  std::vector<std::uint64_t> tile_cycles(steps.size());
  file.for_each_superstep(0, file.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
    const SuperstepRow& row = superstep.row;
    const std::uint64_t all = row.compute.value();
    if (all == 0) return;
    const std::uint64_t most = row.compute_max * tiles;
    const std::uint64_t lost = most - std::min(most, row.compute_sum);
    const std::uint64_t work = all * tiles - std::min(all * tiles, lost);
    std::uint64_t launched = 0;
    const auto until_here = [&] {
      return static_cast<std::uint64_t>(static_cast<__uint128_t>(work) * launched / all);
    };
    for (const LaunchRow& launch : superstep.launches) {
      if (launch.cycles == 0 || launch.step >= steps.size()) continue;
      const std::uint64_t before = until_here();
      launched += launch.cycles;
      tile_cycles[launch.step] += until_here() - before;
    }
  });
  std::vector<Cycles> even;
  for (std::size_t s = 0; s < steps.size(); ++s)
    even.push_back(std::min(steps[s].compute, Cycles((tile_cycles[s] + tiles / 2) / tiles)));
  return even;
}

std::vector<ViewTable> bounds_view(const ViewInput& input) {
  const std::string& by = input.options.group_by;
  ViewTable table{
      .name = "bounds",
      .title = "What is lost, most first",
      .columns = {{by},
                  {"cycles", Form::kCycles},
                  {"time", Form::kTime, "", 2},
                  {"bound", Form::kCycles, "", 1,
                   "its compute cycles if tiles had the same to do, and the words of "
                   "the busiest port of each exchange"},
                  {"of cycles", Form::kShare, "", 3, "the bound, in percent"},
                  {"imbalance", Form::kCycles, "", 0,
                   "lost to tiles that wait for slower ones; what they wait in a "
                   "superstep is shared among all that the slowest tile runs in it, by "
                   "cycles"},
                  {"schedule", Form::kCycles, "", 0, "lost to exchanges beyond those words"},
                  {"barriers", Form::kCycles, "", 0, "lost to them"},
                  {"lost", Form::kBar, "", 4}}};
  const std::vector<Row> rows = rows_by(input);
  const double most = rows.empty() ? 1 : std::max(1.0, static_cast<double>(rows[0].lost().value()));
  const auto add_row = [&](const Row& row) {
    const auto cycles = static_cast<double>(row.cycles.value());
    table.add(row.name, row.cycles.value(), time_cell(row.cycles, input.trace.clock_hz),
              row.bound.value(), static_cast<double>(row.bound.value()) / cycles,
              row.imbalance.value(), row.schedule.value(), row.barriers.value(),
              std::min(1.0, static_cast<double>(row.lost().value()) / most));
  };
  const std::size_t top = input.options.top == 0 ? rows.size() : input.options.top;
  const std::size_t shown = std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) add_row(rows[i]);
  if (shown < rows.size()) {
    Row rest{.name = fmt::format("{} more", rows.size() - shown)};
    for (std::size_t i = shown; i < rows.size(); ++i) {
      rest.cycles += rows[i].cycles;
      rest.bound += rows[i].bound;
      rest.imbalance += rows[i].imbalance;
      rest.schedule += rows[i].schedule;
      rest.barriers += rows[i].barriers;
    }
    add_row(rest);
  }
  note_no_match(table, input.options);
  return {std::move(table)};
}

}  // namespace superstep
