#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/report.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// The same run, with what all tiles compute in a superstep booked on every step that its critical
/// tile launches in it, by their cycles, and not on the first alone. A tile's wait for the barrier
/// is no longer than the critical tile's compute cycles: before them it waits for the exchange.
TraceSummary with_work_of_all_launches(const ViewInput& input) {
  TraceSummary trace = input.trace;
  for (StepTotals& step : trace.steps) step.tile_cycles = 0;
  input.file.for_each_superstep(
      0, input.file.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
        const SuperstepRow& row = superstep.row;
        const std::uint64_t all = row.compute.value(), tiles = trace.tiles_used;
        const std::uint64_t most = row.compute_max * tiles;
        const std::uint64_t lost = most - std::min(most, row.compute_sum);
        const std::uint64_t work = all * tiles - std::min(all * tiles, lost);
        std::uint64_t launched = 0;
        const auto until_here = [&] {
          return static_cast<std::uint64_t>(static_cast<__uint128_t>(work) * launched / all);
        };
        for (const LaunchRow& launch : superstep.launches) {
          if (launch.cycles == 0 || launch.step >= trace.steps.size()) continue;
          const std::uint64_t before = until_here();
          launched += launch.cycles;
          trace.steps[launch.step].tile_cycles += until_here() - before;
        }
      });
  return trace;
}

}  // namespace

std::vector<ViewTable> bounds_view(const ViewInput& input) {
  const std::string& by = input.options.group_by;
  if (by == "call") throw UserError(ExitCode::kUsage, "--view bounds does not add up by call");
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
  if (input.file.rows(kSupersteps) == 0) {
    note_no_supersteps(table);
    return {std::move(table)};
  }
  struct Row {
    std::string name;
    Cycles cycles{}, bound{}, imbalance{}, schedule{}, barriers{};

    [[nodiscard]] Cycles lost() const { return imbalance + schedule + barriers; }
  };
  std::vector<Row> rows;
  for (const OperationTotals& operation : operations_of(with_work_of_all_launches(input), by)) {
    if (!matches(input.options, operation.name) || operation.device().value() == 0) continue;
    const std::uint64_t tiles = std::max<std::uint64_t>(input.trace.tiles_used, 1);
    // Parts of tiles' cycles and of the critical tile's are rounded each for itself.
    const Cycles even =
        std::min(operation.compute, Cycles((operation.tile_cycles + tiles / 2) / tiles));
    const Cycles words = operation.exchange_bound;
    rows.push_back({operation.name, operation.device(), even + words, operation.compute - even,
                    operation.exchange - words, operation.sync});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.lost() > b.lost(); });
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
