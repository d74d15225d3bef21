#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.h"
#include "report/insights.h"
#include "report/numbers.h"
#include "report/places.h"
#include "report/plan_events.h"
#include "report/shares.h"
#include "report/text_table.h"

namespace superstep {
namespace {

double percent(Cycles part, Cycles whole) {
  return whole.value() == 0
             ? 0
             : 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value());
}

Cycles device(const RunTotals& totals) { return totals.exchange + totals.compute + totals.sync; }

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;

/// The operations that a step is booked on, one of each group.
std::vector<FusedOperation> operations_of(const StepTotals& step, std::string_view by) {
  if (shares_of(step.info.fused).empty())
    return {{step.operation_name, step.info.operation, step.info.source, 1}};
  std::vector<FusedOperation> operations;
  for (const FusedOperation& fused : step.info.fused) {
    const auto known =
        std::ranges::find(operations, group_of(step, fused, by),
                          [&](const FusedOperation& other) { return group_of(step, other, by); });
    if (known == operations.end()) {
      operations.push_back(fused);
    } else {
      known->cycles_alone += fused.cycles_alone;
    }
  }
  return operations;
}

/// What a part of a step took; parts of one step add up to it, but that each has its supersteps and
/// runs.
OperationTotals part_of(const StepTotals& step, const Share& share) {
  const auto part = [&](std::uint64_t number) { return share.of(number); };
  const auto cycles = [&](Cycles number) { return Cycles(part(number.value())); };
  const bool moves = step.info.kind == StepInfo::Kind::kExchange;
  return {.supersteps = step.count,
          .flops = part(step.runs * step.info.flops),
          .compute = cycles(step.compute),
          .exchange = cycles(step.exchange),
          .sync = cycles(step.sync),
          .host = cycles(step.host),
          .exchange_bound = Cycles(moves ? part(step.count * step.info.bound_cycles) : 0),
          .exchange_bytes = moves ? part(step.runs * step.info.exchange_bytes) : 0,
          .tile_cycles = part(step.tile_cycles),
          .peak_cycles = part(step.peak_cycles)};
}

/// How near the exchanges' schedules are to the words of their busiest ports.
std::string schedule_quality(const TraceSummary& trace) {
  std::uint64_t scheduled = 0, bound = 0;
  for (const StepTotals& step : trace.steps) {
    if (step.info.kind != StepInfo::Kind::kExchange) continue;
    scheduled += step.count * step.info.predicted_cycles;
    bound += step.count * step.info.bound_cycles;
  }
  if (bound == 0) return {};
  return fmt::format(
      "Exchange  schedules at {:.2f} of their bound, the words of the busiest ports\n",
      static_cast<double>(scheduled) / static_cast<double>(bound));
}

/// What happened: an end before its time, warnings.
std::string events_text(const TraceSummary& t) {
  std::string out;
  if (t.begins_inside)
    out += "the run goes on from a checkpoint: what was before it is not in these numbers\n";
  if (t.outcome != "ok" && t.outcome != "oom")
    out += "the run did not end: these are its finished supersteps\n";
  if (!t.trap.empty()) out += t.trap + "\n";
  for (const TraceEvent& event : t.events) {
    if (event.kind == TraceEvent::Kind::kTrap) continue;
    out += event.kind == TraceEvent::Kind::kOom
               ? event.text + "\n"
               : fmt::format("{} at cycle {}: {}\n", name_of(event.kind), grouped(event.cycle),
                             event.text);
  }
  return out;
}

/// How much of the run rests on numbers of the machine that are guesses.
std::string assumed_text(const TraceSummary& t) {
  const Cycles assumed = t.assumed.device() + t.assumed.host;
  if (assumed.value() == 0) return {};
  return fmt::format("Assumed   {} device and {} host cycles rest on assumed numbers ({:.0f} %)\n",
                     grouped(t.assumed.device()), grouped(t.assumed.host),
                     percent(assumed, t.totals.cycles));
}

std::string issue_text(const TraceSummary& t) {
  const std::optional<IssueShares> shares = issue_shares(t);
  if (!shares) return {};
  return fmt::format(
      "Issue     main pipe {:.0f} %, auxiliary {:.0f} %, of it AMP {:.0f} % of tiles' compute "
      "cycles\n",
      100 * shares->main, 100 * shares->auxiliary, 100 * shares->amp);
}

/// What is worth a look, but for what notes of the compiler say.
std::string insights_text(const TraceSummary& t, std::size_t columns) {
  constexpr std::size_t kMost = 3, kIndent = 4;
  std::string out;
  std::size_t shown = 0;
  for (const Insight& insight : insights_of(t)) {
    const bool is_note = std::ranges::any_of(
        t.plan_events, [&](const CompileEvent& e) { return name_of(e.kind) == insight.rule; });
    if (is_note || shown == kMost) continue;
    if (shown == 0) out = "Worth a look (all: superstep report --view insights)\n";
    out +=
        "  " + filled(fmt::format("{}: {}; try: {}", insight.rule, insight.found, insight.advice),
                      kIndent, columns - 2);
    ++shown;
  }
  return out;
}

/// Parts of the device as a bar, and what its characters mean.
std::string device_bar(const TraceSummary& t, const TextStyle& style) {
  const Cycles on_device = device(t.totals);
  if (on_device.value() == 0) return {};
  constexpr std::size_t kMostBar = 60, kIndent = 10;
  std::vector<double> shares;
  for (const Cycles part : {t.totals.compute, t.totals.exchange, t.totals.sync})
    shares.push_back(percent(part, on_device) / 100);
  return "Device    " + phase_bar(shares, std::min(style.columns - kIndent, kMostBar), style) +
         "\n" + std::string(kIndent, ' ') + phase_legend(style) + "\n";
}

/// Cycles of the run and of its parts.
std::string parts_text(const TraceSummary& t) {
  const RunTotals& totals = t.totals;
  const Cycles on_device = device(totals);
  const TimeColumn times(totals.cycles, t.clock_hz);
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kLeft});
  table.add({"", "cycles", fmt::format("time ({})", times.unit()), "% total", "% device"});
  const auto row = [&](const char* name, Cycles cycles, bool of_device, std::string note) {
    table.add({name, grouped(cycles), times.text(cycles),
               fmt::format("{:.1f}", percent(cycles, totals.cycles)),
               of_device ? fmt::format("{:.1f}", percent(cycles, on_device)) : "",
               std::move(note)});
  };
  row("Device", on_device, true,
      t.predicted.value() == 0 ? "" : fmt::format("predicted {}", grouped(t.predicted)));
  row("  Compute", totals.compute, true,
      totals.compute.value() == 0 ? "" : fmt::format("balance {:.0f} %", 100 * t.balance));
  row("  Exchange", totals.exchange, true, fmt::format("{} B", grouped(t.exchange_bytes)));
  row("  Sync", totals.sync, true, fmt::format("{} supersteps", grouped(totals.supersteps)));
  row("Host", totals.host, false, fmt::format("{} B", grouped(t.host_bytes)));
  row("Total", totals.cycles, false, "");
  return table.text();
}

/// What there is to say of these cycles.
std::string remarks_text(const TraceSummary& t) {
  const RunTotals& totals = t.totals;
  const Cycles on_device = device(totals);
  std::string out = assumed_text(t);
  if (t.calls > 1 && t.outcome == "ok" && !t.begins_inside)
    out += fmt::format("A call    {} device and {} host cycles, {} calls\n",
                       grouped(on_device.value() / t.calls), grouped(totals.host.value() / t.calls),
                       grouped(t.calls));
  if (t.visits.count != 0)
    out += fmt::format("Visits    {} to the host: begin {}{}, data {}, end {} cycles\n",
                       grouped(t.visits.count), grouped(t.visits.begin),
                       t.visits.callbacks.value() == 0
                           ? ""
                           : fmt::format(" (callbacks {})", grouped(t.visits.callbacks)),
                       grouped(totals.host - t.visits.end), grouped(t.visits.end));
  out += schedule_quality(t) + issue_text(t);
  const StepTotals* longest = nullptr;
  for (const StepTotals& step : t.steps)
    if (step.compute.value() != 0 && (!longest || step.compute > longest->compute)) longest = &step;
  if (longest)
    out += fmt::format("Critical  step {}: {} compute cycles, tile {}\n", longest->info.name,
                       grouped(longest->compute), index(longest->worst));
  return out;
}

std::string worst_tile_text(const TraceSummary& t, std::size_t columns) {
  if (t.tile_memory_bytes == 0) return {};
  std::vector<std::string> words;
  for (const auto& [name, bytes] : t.worst_tile_memory)
    if (bytes != 0) words.push_back(fmt::format("{} {} B", name, grouped(bytes)));
  return fmt::format("Memory    worst tile {}: {:.1f} of {:.0f} KiB ({:.0f} %)\n",
                     index(t.worst_tile), static_cast<double>(t.worst_tile_bytes) / 1024,
                     static_cast<double>(t.tile_memory_bytes) / 1024,
                     100.0 * static_cast<double>(t.worst_tile_bytes) /
                         static_cast<double>(t.tile_memory_bytes)) +
         wrapped(words, 10, columns);
}

/// The operations that took most; the last row has the rest, so that columns add up.
std::string top_text(const TraceSummary& t, std::size_t columns) {
  constexpr std::size_t kMost = 8;
  std::vector<OperationTotals> operations = operations_of(t);
  std::erase_if(operations, [](const OperationTotals& o) { return o.device().value() == 0; });
  if (operations.empty()) return {};
  const std::size_t shown = std::min(kMost, operations.size());
  OperationTotals rest;
  for (std::size_t i = shown; i < operations.size(); ++i) add(rest, operations[i]);
  rest.name = fmt::format("{} more", operations.size() - shown);

  std::string file;
  bool has_python = false;
  for (const OperationTotals& o : operations) {
    if (file.empty()) file = o.source.module.file;
    has_python = has_python || !o.source.python.file.empty();
  }
  // Else each runs once a call.
  const bool has_runs = std::ranges::any_of(
      t.steps, [](const StepTotals& step) { return step.info.parent.has_value(); });
  const auto make = [&](PlaceForm form) {
    std::vector<std::string> headings{"", "cycles", "compute", "exchange", "sync", "%"};
    TextTable table =
        has_runs ? TextTable({kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kLeft, kLeft})
                 : TextTable({kLeft, kRight, kRight, kRight, kRight, kRight, kLeft, kLeft});
    if (has_runs) headings.insert(headings.begin() + 1, "runs");
    table.add(with_headings(std::move(headings), has_python, form));
    const auto add_row = [&](const OperationTotals& o) {
      std::vector<std::string> row{
          "  " + one_line(o.name), grouped(o.device()),
          grouped(o.compute),      grouped(o.exchange),
          grouped(o.sync),         fmt::format("{:.1f}", percent(o.device(), device(t.totals)))};
      if (has_runs) row.insert(row.begin() + 1, o.runs == 0 ? "" : grouped(o.runs));
      table.add(with_place(std::move(row), o.source, form));
    };
    std::for_each_n(operations.begin(), shown, add_row);
    if (shown < operations.size()) add_row(rest);
    return table;
  };
  std::string title = shown < operations.size()
                          ? fmt::format("Top {} of {} operations", shown, operations.size())
                          : "Operations";
  if (!file.empty()) title += " of " + file;
  if (shown < operations.size()) title += " (all: --json)";
  return title + "\n" + text_in(columns, make);
}

}  // namespace

std::string group_of(const StepTotals& step, const FusedOperation& operation, std::string_view by) {
  const auto named = [](std::string name) { return name.empty() ? "(none)" : name; };
  if (by == "opcode") return named(operation.operation);
  if (by == "python") return named(operation.source.python.text());
  if (by == "source") return named(operation.source.module.text());
  return step.info.fused.empty() ? step.operation_name : operation_of(step.info, operation);
}

std::vector<OperationTotals> operations_of(const TraceSummary& trace, std::string_view by) {
  std::vector<OperationTotals> operations;
  std::map<std::string, std::size_t> known;
  for (const StepTotals& step : trace.steps) {
    if (step.count == 0) continue;
    const std::vector<FusedOperation> computed = operations_of(step, by);
    const std::vector<Share> shares = shares_of(computed);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const FusedOperation& operation = computed[i];
      const auto [it, fresh] = known.emplace(group_of(step, operation, by), operations.size());
      if (fresh) operations.push_back({.name = it->first});
      OperationTotals& sums = operations[it->second];
      const bool is_of_step = it->first == step.operation_name;
      if (by == "operation" && (fresh || is_of_step)) {
        sums.opcode = is_of_step ? step.info.operation : operation.operation;
        sums.source = is_of_step ? step.info.source : operation.source;
      }
      add(sums, part_of(step, shares[i]));
      sums.runs = std::max(sums.runs, step.runs);
    }
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const OperationTotals& a, const OperationTotals& b) {
                     return a.device() != b.device() ? a.device() > b.device() : a.name < b.name;
                   });
  return operations;
}

void add(OperationTotals& sums, const OperationTotals& other) {
  sums.supersteps += other.supersteps;
  sums.flops += other.flops;
  sums.compute += other.compute;
  sums.exchange += other.exchange;
  sums.sync += other.sync;
  sums.host += other.host;
  sums.exchange_bound += other.exchange_bound;
  sums.exchange_bytes += other.exchange_bytes;
  sums.tile_cycles += other.tile_cycles;
  sums.peak_cycles += other.peak_cycles;
}

std::optional<IssueShares> issue_shares(const TraceSummary& t) {
  if (t.tile_cycles == 0 || t.instructions.aux == 0) return std::nullopt;
  const auto share = [&](std::uint64_t instructions) {
    return static_cast<double>(instructions) / static_cast<double>(t.tile_cycles);
  };
  return IssueShares{share(t.instructions.main()), share(t.instructions.aux),
                     share(t.instructions.amp)};
}

std::string text_report(const TraceSummary& t, const TextStyle& style) {
  const std::size_t columns = style.columns;
  // Of a program that does not fit nothing ran: there are no cycles.
  const bool ran = t.outcome != "oom";
  std::string out = fmt::format("{} on {} ({}{} tiles, {:.3f} GHz)\n", t.module, t.machine_name,
                                ran ? fmt::format("{} of ", t.tiles_used) : "", t.tiles,
                                static_cast<double>(t.clock_hz) / 1e9);
  out += events_text(t);
  if (ran) out += parts_text(t);
  std::string below = ran ? remarks_text(t) : "";
  std::vector<CompileEvent> shown;
  const auto is_shown = [](CompileEvent::Kind kind) {
    return costs_time(kind) || kind == CompileEvent::Kind::kWideEncoding;
  };
  std::ranges::copy_if(t.plan_events, std::back_inserter(shown), is_shown, &CompileEvent::kind);
  below += plan_events_text(shown, columns) + worst_tile_text(t, columns) + top_text(t, columns) +
           insights_text(t, columns);
  return printable(out) + (ran ? device_bar(t, style) : "") + printable(below);
}

}  // namespace superstep
