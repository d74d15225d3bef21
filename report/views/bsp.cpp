#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// Supersteps between the same steps, added up.
struct Kind {
  std::uint64_t count = 0, compute = 0, h_bytes = 0, measured = 0;
  double predicted = 0;
};

/// The machine as BSP has it, from the parameters of the trace.
struct BspMachine {
  double g = 0;  ///< cycles a byte
  double l = 0;  ///< cycles of a barrier
};
std::optional<BspMachine> bsp_machine(const TraceFile& file) {
  std::optional<double> width, latency;
  for (const ParameterRow& row : file.read(kParameters)) {
    if (row.key == "exchange.width") width = static_cast<double>(row.value);
    if (row.key == "sync.internal_latency") latency = static_cast<double>(row.value);
  }
  if (!width || *width == 0 || !latency) return std::nullopt;
  return BspMachine{1 / *width, *latency};
}

}  // namespace

std::vector<ViewTable> bsp_view(const ViewInput& input) {
  const std::optional<BspMachine> machine = bsp_machine(input.file);
  ViewTable table{.name = "kinds",
                  .title = "Supersteps as w + g h + l",
                  .columns = {{"computes"},
                              {"exchanges", Form::kText, "", 3},
                              {"times", Form::kCount, "1", 4},
                              {"w", Form::kReal, "cycle"},
                              {"h bytes", Form::kReal, "B", 1},
                              {"w + g h + l", Form::kReal, "cycle"},
                              {"measured", Form::kReal, "cycle"},
                              {"time", Form::kTime, "", 2, "that was measured"},
                              {"beyond", Form::kShare, "1"},
                              {"bar", Form::kBar, "", 5}}};
  if (!machine) {
    table.notes.emplace_back("The trace does not say exchange.width and sync.internal_latency.");
    return {std::move(table)};
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Kind> kinds;
  Kind all;
  input.file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (row.host.value() != 0 || row.visit_begin.value() != 0) return;
    const std::uint64_t compute = row.compute.value();
    const double predicted =
        static_cast<double>(compute) + machine->g * static_cast<double>(row.h_bytes) + machine->l;
    const std::uint64_t measured = (row.exchange + row.compute + row.sync).value();
    for (Kind* kind : {&kinds[{row.step, row.exchange_step}], &all}) {
      ++kind->count;
      kind->compute += compute;
      kind->h_bytes += row.h_bytes;
      kind->predicted += predicted;
      kind->measured += measured;
    }
  });
  const std::vector<StepRow> steps = input.file.read(kSteps);
  const auto name = [&](std::uint32_t step) {
    return step < steps.size() ? steps[step].name : std::string("(none)");
  };
  std::erase_if(kinds,
                [&](const auto& kind) { return !matches(input.options, name(kind.first.first)); });
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, Kind>> order(kinds.begin(),
                                                                              kinds.end());
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& entry) {
    return std::abs(static_cast<double>(entry.second.measured) - entry.second.predicted);
  });
  const auto add = [&](std::string computes, std::string exchanges, const Kind& kind) {
    const auto times = static_cast<double>(std::max<std::uint64_t>(kind.count, 1));
    const auto measured = static_cast<double>(kind.measured);
    table.add(std::move(computes), std::move(exchanges), kind.count,
              static_cast<double>(kind.compute) / times, static_cast<double>(kind.h_bytes) / times,
              kind.predicted / times, measured / times,
              time_cell(measured / times, input.trace.clock_hz),
              kind.predicted == 0 ? 0 : (measured - kind.predicted) / kind.predicted,
              all.measured == 0 ? 0 : measured / static_cast<double>(all.measured));
  };
  for (const auto& [key, kind] : order) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    add(name(key.first), name(key.second), kind);
  }
  note_no_match(table, input.options);
  if (!table.notes.empty()) return {std::move(table)};
  const std::size_t shown = table.rows.size();
  add("all", "", all);
  table.notes = {
      fmt::format("g {:.2f} cycles a byte (exchange.width), l {:.0f} cycles "
                  "(sync.internal_latency). Those first that are most cycles from the model in "
                  "all; a row is the mean of its supersteps, those with a visit to the host apart.",
                  machine->g, machine->l),
      "What BSP does not know: words take their time on the way, ports wait for one another, "
      "barriers for tiles far from them."};
  note_more(table, order.size() - shown);
  return {std::move(table)};
}

}  // namespace superstep
