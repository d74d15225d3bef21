#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// What supersteps say of the exchanges of one step.
struct Moved {
  std::uint64_t h_bytes = 0, messages = 0;
};

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

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
                              {"runs", Form::kCount, "1", 4},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 1},
                              {"a run", Form::kReal, "cycle", 2},
                              {"schedule", Form::kCycles, "", 2},
                              {"bound", Form::kCycles, "", 0, "words of the busiest port"},
                              {"run/bound", Form::kReal, "1"},
                              {"bytes a run", Form::kCount, "B", 3},
                              {"h bytes", Form::kReal, "B", 5,
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
  return {std::move(table)};
}

std::vector<ViewTable> host_view(const ViewInput& input) {
  struct OfStream {
    std::uint64_t transfers = 0, bytes = 0, packets = 0, cycles = 0;
  };
  const std::vector<StreamRow> streams = input.file.read(kStreams);
  std::vector<OfStream> sums(streams.size());
  const std::uint64_t rows = input.file.rows(kTransfers);
  input.file.for_each_row(kTransfers, [&](const TransferRow& row) {
    if (row.stream >= sums.size()) return;
    OfStream& of_stream = sums[row.stream];
    ++of_stream.transfers;
    of_stream.bytes += row.bytes;
    of_stream.packets += row.packets;
    of_stream.cycles += row.length.value();
  });
  ViewTable table{.name = "streams",
                  .title = "Streams over the host link",
                  .columns = {{"stream"},
                              {"way", Form::kText, "", 2},
                              {"type", Form::kText, "", 4},
                              {"transfers", Form::kCount, "1", 1},
                              {"bytes", Form::kBytes},
                              {"packets", Form::kCount, "1", 5},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 1},
                              {"B/cycle", Form::kReal, "B/cycle", 3}}};
  table.notes.push_back(fmt::format(
      "{} visits: their beginnings {} cycles (callbacks {}), data {}, ends {}. Cycles of a "
      "stream: first packet to last; streams of one visit share the way.",
      grouped(input.trace.visits.count), grouped(input.trace.visits.begin),
      grouped(input.trace.visits.callbacks),
      grouped(input.trace.totals.host - input.trace.visits.end), grouped(input.trace.visits.end)));
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (!matches(input.options, streams[s].name)) continue;
    table.add(streams[s].name, std::string(streams[s].direction == 0 ? "to device" : "to host"),
              streams[s].type, sums[s].transfers, sums[s].bytes, sums[s].packets, sums[s].cycles,
              time_cell(Cycles(sums[s].cycles), input.trace.clock_hz),
              cell_if(sums[s].cycles != 0, ratio(sums[s].bytes, sums[s].cycles)));
  }
  if (!streams.empty()) note_no_match(table, input.options);
  if (rows == 0)
    table.notes.emplace_back("Transfers are in traces of level superstep (`--trace superstep`).");
  return {std::move(table)};
}

}  // namespace superstep
