#include <fmt/format.h>

#include <algorithm>

#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {

using Form = ViewColumn::Form;

std::vector<ViewTable> supersteps_view(const ViewInput& input) {
  const auto name_of = [&](std::uint32_t step) {
    return step < input.trace.steps.size() ? input.trace.steps[step].info.name : std::string();
  };
  std::vector<SuperstepRow> rows;
  input.file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (matches(input.options, name_of(row.step)) ||
        matches(input.options, name_of(row.exchange_step)))
      rows.push_back(row);
  });
  const auto device = [](const SuperstepRow& row) { return row.compute + row.exchange + row.sync; };
  std::ranges::stable_sort(rows, std::ranges::greater{}, device);
  ViewTable table{.name = "supersteps",
                  .title = "Supersteps of the run, longest on the device first",
                  .columns = {{"superstep", Form::kCount, "1"},
                              {"call", Form::kCount, "1", 5},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 3},
                              {"compute", Form::kCycles},
                              {"exchange", Form::kCycles},
                              {"sync", Form::kCycles},
                              {"host", Form::kCycles, "", 4},
                              {"tile", Form::kCount, "1", 6},
                              {"step"},
                              {"exchange step", Form::kText, "", 2}}};
  const bool is_there = input.file.rows(kSupersteps) != 0;
  if (is_there) {
    table.notes.push_back(
        "Superstep: as --trace-supersteps takes it. Tile: the one that others waited for. Step: "
        "the first that computes.");
    if (rows.empty()) note_no_match(table, input.options);
  } else {
    note_no_supersteps(table);
  }
  for (const SuperstepRow& row : rows) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) {
      table.notes.push_back(fmt::format("{} more (`--top 0`).", rows.size() - input.options.top));
      break;
    }
    table.add(std::uint64_t{row.number}, std::uint64_t{row.call}, device(row).value(),
              device(row).value(), row.compute.value(), row.exchange.value(), row.sync.value(),
              row.host.value(),
              cell_if(row.compute.value() != 0, std::uint64_t{index(row.critical)}),
              name_of(row.step), name_of(row.exchange_step));
  }
  return {std::move(table)};
}

}  // namespace superstep
