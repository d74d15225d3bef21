#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/report.h"
#include "report/view.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// Compute cycles of an operation if all tiles with a program had the same to do.
Cycles even_compute(const OperationTotals& operation, std::uint32_t tiles) {
  const double peak = static_cast<double>(operation.peak_cycles) * tiles;
  if (peak == 0) return operation.compute;
  const double balance = std::min(1.0, static_cast<double>(operation.tile_cycles) / peak);
  return Cycles(
      static_cast<std::uint64_t>(static_cast<double>(operation.compute.value()) * balance));
}

}  // namespace

std::vector<ViewTable> bounds_view(const ViewInput& input) {
  const std::string& by = input.options.group_by;
  if (by == "call") throw UserError(ExitCode::kUsage, "--view bounds does not add up by call");
  ViewTable table{.name = "bounds",
                  .title = "What is lost, most first",
                  .columns = {{by},
                              {"cycles", Form::kCycles},
                              {"bound", Form::kCycles},
                              {"of cycles", Form::kShare},
                              {"imbalance", Form::kCycles},
                              {"schedule", Form::kCycles},
                              {"barriers", Form::kCycles},
                              {"lost", Form::kBar, "", 1}},
                  .notes = {"Bound: its compute cycles if tiles had the same to do, and the words "
                            "of the busiest port of each exchange. What is lost: to tiles that "
                            "wait for slower ones, to exchanges beyond those words, to barriers. "
                            "Balance is that of the supersteps that an operation begins."}};
  struct Row {
    std::string name;
    Cycles cycles{}, bound{}, imbalance{}, schedule{}, barriers{};

    [[nodiscard]] Cycles lost() const { return imbalance + schedule + barriers; }
  };
  std::vector<Row> rows;
  for (const OperationTotals& operation : operations_of(input.trace, by)) {
    if (!matches(input.options, operation.name) || operation.device().value() == 0) continue;
    const Cycles even = even_compute(operation, input.trace.tiles_used);
    const Cycles words = std::min(operation.exchange, operation.exchange_bound);
    rows.push_back({operation.name, operation.device(), even + words, operation.compute - even,
                    operation.exchange - words, operation.sync});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.lost() > b.lost(); });
  const double most = rows.empty() ? 1 : std::max(1.0, static_cast<double>(rows[0].lost().value()));
  const auto add_row = [&](const Row& row) {
    const auto cycles = static_cast<double>(row.cycles.value());
    table.add(row.name, row.cycles.value(), row.bound.value(),
              static_cast<double>(row.bound.value()) / cycles, row.imbalance.value(),
              row.schedule.value(), row.barriers.value(),
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
