#include <algorithm>

#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {

using Form = ViewColumn::Form;

std::vector<ViewTable> supersteps_view(const ViewInput& input) {
  const auto name_of = [&](std::uint32_t step) {
    return step < input.trace.steps.size() ? input.trace.steps[step].info.name : std::string();
  };
  const auto device = [](const SuperstepRow& row) { return row.compute + row.exchange + row.sync; };
  const auto is_before = [&](const SuperstepRow& a, const SuperstepRow& b) {
    return device(a) != device(b) ? device(a) > device(b) : a.number < b.number;
  };
  // The longest so far, as a heap with the last of them in front.
  std::vector<SuperstepRow> rows;
  std::uint64_t found = 0;
  input.file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (!matches(input.options, name_of(row.step)) &&
        !matches(input.options, name_of(row.exchange_step)))
      return;
    ++found;
    if (input.options.top == 0 || rows.size() < input.options.top) {
      rows.push_back(row);
    } else if (is_before(row, rows.front())) {
      std::ranges::pop_heap(rows, is_before);
      rows.back() = row;
    } else {
      return;
    }
    std::ranges::push_heap(rows, is_before);
  });
  std::ranges::sort_heap(rows, is_before);
  ViewTable table{.name = "supersteps",
                  .title = "Supersteps of the run, longest on the device first",
                  .columns = {{"superstep", Form::kCount, "1", 0, "as --trace-supersteps takes it"},
                              {"call", Form::kCount, "1", 5},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 3},
                              {"compute", Form::kCycles},
                              {"exchange", Form::kCycles},
                              {"sync", Form::kCycles},
                              {"host", Form::kCycles, "", 4},
                              {"tile", Form::kCount, "1", 6, "the one that others waited for"},
                              {"active", Form::kCount, "1", 1, "tiles that compute"},
                              {"step", Form::kText, "", 0, "the first that computes"},
                              {"exchange step", Form::kText, "", 2}}};
  for (const SuperstepRow& row : rows)
    table.add(std::uint64_t{row.number}, std::uint64_t{row.call}, device(row).value(),
              time_cell(device(row), input.trace.clock_hz), row.compute.value(),
              row.exchange.value(), row.sync.value(), row.host.value(),
              cell_if(row.compute.value() != 0, std::uint64_t{index(row.critical)}),
              std::uint64_t{row.active_tiles}, name_of(row.step), name_of(row.exchange_step));
  note_more(table, found - rows.size());
  note_no_match(table, input.options);
  return {std::move(table)};
}

}  // namespace superstep
