#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/stream_totals.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// What supersteps say of the exchanges of one step.
struct Moved {
  std::uint64_t h_bytes = 0, messages = 0;
};

}  // namespace

std::vector<ViewTable> exchange_view(const ViewInput& input) {
  std::vector<Moved> moved(input.trace.steps.size() + 1);
  const std::uint64_t rows = input.file.rows(kSupersteps);
  input.file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    Moved& of_step = moved[std::min<std::size_t>(row.exchange_step, moved.size() - 1)];
    of_step.h_bytes += row.h_bytes;
    of_step.messages += row.messages;
  });
  ViewTable table{.name = "exchanges",
                  .title = "Exchanges, longest first",
                  .columns = {{"step"},
                              {"runs", Form::kCount, "1", 5},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 4},
                              {"a run", Form::kReal, "cycle", 1},
                              {"schedule", Form::kCycles, "", 2},
                              {"bound", Form::kCycles, "", 0, "words of the busiest port"},
                              {"run/bound", Form::kReal, "1"},
                              {"bytes a run", Form::kCount, "B", 3},
                              {"h bytes", Form::kReal, "B", 6,
                               "the most that one tile sends or receives in a run"},
                              {"messages", Form::kReal, "1", 7},
                              {"bar", Form::kBar, "", 8}}};
  std::vector<std::size_t> order;
  std::uint64_t longest = 1;
  for (std::size_t s = 0; s < input.trace.steps.size(); ++s) {
    const StepTotals& step = input.trace.steps[s];
    if (step.count == 0 || step.info.kind != StepInfo::Kind::kExchange) continue;
    if (!matches(input.options, step.info.name)) continue;
    order.push_back(s);
    longest = std::max(longest, step.exchange.value());
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t s) { return input.trace.steps[s].exchange; });
  for (const std::size_t s : order) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    const StepTotals& step = input.trace.steps[s];
    const std::uint64_t cycles = step.exchange.value();
    const bool has_rows = rows != 0 && step.runs != 0;
    table.add(
        step.info.name, step.runs, cycles, time_cell(step.exchange, input.trace.clock_hz),
        ratio(cycles, step.runs), step.info.predicted_cycles, step.info.bound_cycles,
        cell_if(step.info.bound_cycles != 0, ratio(cycles, step.runs * step.info.bound_cycles)),
        step.info.exchange_bytes, cell_if(has_rows, ratio(moved[s].h_bytes, step.runs)),
        cell_if(has_rows, ratio(moved[s].messages, step.runs)), ratio(cycles, longest));
  }
  note_more(table, order.size() - table.rows.size());
  note_no_match(table, input.options);
  table.compared = {{"step"}, {"cycles", "runs", "schedule", "bytes a run"}, true};
  return {std::move(table)};
}

std::vector<ViewTable> host_view(const ViewInput& input) {
  std::vector<StreamTotals> streams = stream_totals(input.file);
  Cycles all;
  for (const StreamTotals& stream : streams) all += stream.cycles;
  std::erase_if(streams, [&](const StreamTotals& stream) {
    return !matches(input.options, stream.name) && !matches(input.options, stream.label);
  });
  std::ranges::stable_sort(streams, std::ranges::greater{}, &StreamTotals::cycles);
  ViewTable table{.name = "streams",
                  .title = "Streams over the host link, longest first",
                  .columns = {{"stream"},
                              {"label", Form::kText, "", 1, "as the program names it"},
                              {"way", Form::kText, "", 2},
                              {"type", Form::kText, "", 5},
                              {"transfers", Form::kCount, "1", 1},
                              {"bytes", Form::kBytes},
                              {"packets", Form::kCount, "1", 3},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 1},
                              {"%", Form::kShare, "1"},
                              {"B/cycle", Form::kReal, "B/cycle", 4}}};
  for (const StreamTotals& stream : streams) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    const std::uint64_t cycles = stream.cycles.value();
    table.add(stream.name, cell_if(!stream.label.empty(), stream.label),
              std::string(stream.direction == 0 ? "to device" : "to host"), stream.type,
              stream.transfers, stream.moved_bytes, stream.packets, cycles,
              time_cell(stream.cycles, input.trace.clock_hz), ratio(cycles, all.value()),
              cell_if(cycles != 0, ratio(stream.moved_bytes, cycles)));
  }
  note_more(table, streams.size() - table.rows.size());
  table.notes.push_back(fmt::format(
      "{} visits: their beginnings {} cycles (callbacks {}), data {}, ends {}. Cycles of a "
      "stream: first packet to last; streams of one visit share the way, and what data takes "
      "beyond them is latency.",
      grouped(input.trace.visits.count), grouped(input.trace.visits.begin),
      grouped(input.trace.visits.callbacks),
      grouped(input.trace.totals.host - input.trace.visits.end), grouped(input.trace.visits.end)));
  note_no_match(table, input.options);
  table.compared = {{"stream"}, {"cycles", "transfers", "bytes"}, true};
  return {std::move(table)};
}

}  // namespace superstep
