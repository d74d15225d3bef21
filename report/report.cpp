#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "report/insights.h"
#include "report/numbers.h"
#include "report/plan_events.h"
#include "report/text_table.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

double percent(Cycles part, Cycles whole) {
  return whole.value() == 0
             ? 0
             : 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value());
}

/// A line with a label in front, and those that it goes on in.
std::string remark(std::string_view label, const std::string& text, std::size_t columns) {
  constexpr std::size_t kIndent = 10;
  return fmt::format("{:<{}}{}", label, kIndent, filled(one_line(text), kIndent, columns, kIndent));
}

/// How near the exchanges' schedules are to the words of their busiest ports.
std::string schedule_quality(const TraceSummary& trace, std::size_t columns) {
  std::uint64_t scheduled = 0, bound = 0;
  for (const StepTotals& step : trace.steps) {
    if (step.info.kind != StepInfo::Kind::kExchange) continue;
    scheduled += step.count * step.info.predicted_cycles;
    bound += step.count * step.info.bound_cycles;
  }
  if (bound == 0) return {};
  return remark("Exchange",
                fmt::format("schedules at {:.2f} of their bound, the words of the busiest ports",
                            static_cast<double>(scheduled) / static_cast<double>(bound)),
                columns);
}

/// What happened: an end before its time, warnings.
std::string events_text(const TraceSummary& t, std::size_t columns) {
  std::vector<std::string> lines;
  if (t.begins_inside)
    lines.emplace_back(
        "the run goes on from a checkpoint: what was before it is not in these numbers");
  if (t.outcome != "ok" && t.outcome != "oom")
    lines.emplace_back("the run did not end: these are its finished supersteps");
  if (!t.trap.empty()) lines.push_back(t.trap);
  for (const TraceEvent& event : t.events) {
    if (event.kind == TraceEvent::Kind::kTrap) continue;
    lines.push_back(event.kind == TraceEvent::Kind::kOom
                        ? event.text
                        : fmt::format("{} at cycle {}: {}", name_of(event.kind),
                                      grouped(event.cycle), event.text));
  }
  std::string out;
  for (const std::string& line : lines) out += filled(printable(line), 2, columns);
  return out;
}

/// How much of the run rests on numbers of the machine that are guesses.
std::string assumed_text(const TraceSummary& t, std::size_t columns) {
  const Cycles assumed = t.assumed.device() + t.assumed.host;
  if (assumed.value() == 0) return {};
  return remark("Assumed",
                fmt::format("{} device and {} host cycles rest on assumed numbers ({:.0f} %)",
                            grouped(t.assumed.device()), grouped(t.assumed.host),
                            percent(assumed, t.totals.cycles)),
                columns);
}

std::string issue_text(const TraceSummary& t, std::size_t columns) {
  const std::optional<IssueShares> shares = issue_shares(t);
  if (!shares) return {};
  return remark("Issue",
                fmt::format("main pipe {:.0f} %, auxiliary {:.0f} %, of it AMP {:.0f} % of tiles' "
                            "compute cycles",
                            100 * shares->main, 100 * shares->auxiliary, 100 * shares->amp),
                columns);
}

/// What is worth a look, but for what notes of the compiler say.
std::string insights_text(const TraceSummary& t, const TextStyle& style, const TraceFile* file) {
  constexpr std::size_t kMost = 3, kIndent = 4, kBegin = 2;
  const std::string begin(kBegin, ' ');
  const std::uint64_t worker_runs = file ? file->rows(kVertices) : 0;
  std::vector<Insight> insights = insights_of(t, file, kMostRunsOfReports);
  std::erase_if(insights, [&](const Insight& insight) {
    return std::ranges::any_of(
        t.plan_events, [&](const CompileEvent& e) { return name_of(e.kind) == insight.rule; });
  });
  if (insights.empty() && worker_runs <= kMostRunsOfReports) return {};
  std::string out = heading(
      filled("Worth a look (all: superstep report --view insights)", 0, style.columns), style);
  for (std::size_t i = 0; i < std::min(kMost, insights.size()); ++i) {
    const Insight& insight = insights[i];
    out += begin + filled(one_line(fmt::format("{}: {}; try: {}", insight.rule, insight.found,
                                               insight.advice)),
                          kIndent, style.columns, kBegin);
  }
  if (insights.size() > kMost) out += fmt::format("{}{} more\n", begin, insights.size() - kMost);
  if (worker_runs > kMostRunsOfReports)
    out +=
        begin + filled(fmt::format("not looked at here: the {} worker runs", grouped(worker_runs)),
                       kIndent, style.columns, kBegin);
  return out;
}

/// What the trace has below tiles.
std::string details_text(const TraceFile* file, std::size_t columns) {
  if (!file || file->rows(kVertices) == 0) return {};
  const std::uint64_t instructions = file->rows(kInstructions);
  return remark(
      "Workers",
      fmt::format(
          "{} of their runs{} are traced: --view codelets, trace export --to "
          "perfetto{}",
          grouped(file->rows(kVertices)),
          instructions == 0 ? "" : fmt::format(" and {} instructions", grouped(instructions)),
          instructions == 0 ? "" : " or kanata"),
      columns);
}

/// Parts of the device as a bar, and what its characters mean.
std::string device_bar(const TraceSummary& t, const TextStyle& style) {
  const Cycles on_device = t.totals.device();
  if (on_device.value() == 0) return {};
  constexpr std::size_t kMostBar = 60, kIndent = 10;
  std::vector<double> shares;
  for (const Cycles part : {t.totals.compute, t.totals.exchange, t.totals.sync})
    shares.push_back(percent(part, on_device) / 100);
  return "Device    " + phase_bar(shares, std::min(style.columns - kIndent, kMostBar), style) +
         "\n" + std::string(kIndent, ' ') + phase_legend(shares.size(), style) + "\n";
}

/// Cycles of the run and of its parts.
ViewTable parts_table(const TraceSummary& t) {
  using Form = ViewColumn::Form;
  const RunTotals& totals = t.totals;
  const Cycles on_device = totals.device();
  ViewTable table{.columns = {{""},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime, "", 1},
                              {"% total", Form::kShare, "", 2},
                              {"% device", Form::kShare},
                              {"", Form::kText, "", 3}}};
  const auto row = [&](const char* name, Cycles cycles, bool of_device, const std::string& note) {
    table.add(std::string(name), cycles.value(), time_cell(cycles, t.clock_hz),
              percent(cycles, totals.cycles) / 100,
              cell_if(of_device, percent(cycles, on_device) / 100), note);
  };
  row("Device", on_device, true,
      t.predicted.value() == 0 ? "" : fmt::format("predicted {}", grouped(t.predicted)));
  row("  Compute", totals.compute, true,
      totals.compute.value() == 0 ? "" : fmt::format("balance {:.0f} %", 100 * t.balance));
  row("  Exchange", totals.exchange, true, fmt::format("{} B", grouped(t.exchange_bytes)));
  row("  Sync", totals.sync, true,
      fmt::format("{} supersteps{}", grouped(totals.supersteps),
                  t.visits.callbacks.value() == 0
                      ? ""
                      : fmt::format("; {} for callbacks", grouped(t.visits.callbacks))));
  row("Host", totals.host, false, fmt::format("{} B", grouped(t.host_bytes)));
  row("Total", totals.cycles, false, "");
  return table;
}

/// What there is to say of these cycles.
std::string remarks_text(const TraceSummary& t, std::size_t columns) {
  const RunTotals& totals = t.totals;
  const Cycles on_device = totals.device();
  std::string out = assumed_text(t, columns);
  if (t.calls > 1 && t.outcome == "ok" && !t.begins_inside)
    out +=
        remark("A call",
               fmt::format("{} device and {} host cycles, {} calls",
                           grouped(rounded_mean(on_device.value(), t.calls)),
                           grouped(rounded_mean(totals.host.value(), t.calls)), grouped(t.calls)),
               columns);
  if (t.visits.count != 0)
    out += remark("Visits",
                  fmt::format("{} to the host: begin {}{}, data {}, end {} cycles",
                              grouped(t.visits.count), grouped(t.visits.begin),
                              t.visits.callbacks.value() == 0
                                  ? ""
                                  : fmt::format(" (callbacks {})", grouped(t.visits.callbacks)),
                              grouped(totals.host - t.visits.end), grouped(t.visits.end)),
                  columns);
  out += schedule_quality(t, columns) + issue_text(t, columns);
  const StepTotals* longest = nullptr;
  for (const StepTotals& step : t.steps)
    if (step.compute.value() != 0 && (!longest || step.compute > longest->compute)) longest = &step;
  if (longest)
    out += remark("Critical",
                  fmt::format("step {}: {} compute cycles, tile {}", longest->info.name,
                              grouped(longest->compute), index(longest->worst)),
                  columns);
  return out;
}

std::string worst_tile_text(const TraceSummary& t, std::size_t columns) {
  if (t.tile_memory_bytes == 0) return {};
  std::vector<std::string> words;
  for (const auto& [name, bytes] : t.worst_tile_memory)
    if (bytes != 0) words.push_back(one_line(fmt::format("{} {} B", name, grouped(bytes))));
  return remark("Memory",
                fmt::format("worst tile {}: {:.1f} of {:.0f} KiB ({:.0f} %)", index(t.worst_tile),
                            static_cast<double>(t.worst_tile_bytes) / 1024,
                            static_cast<double>(t.tile_memory_bytes) / 1024,
                            100.0 * static_cast<double>(t.worst_tile_bytes) /
                                static_cast<double>(t.tile_memory_bytes)),
                columns) +
         wrapped(words, 10, columns);
}

/// The operations that took most; the last row has the rest, so that columns add up.
std::string top_text(const TraceSummary& t, const TextStyle& style, const TraceFile* file) {
  constexpr std::size_t kMost = 8;
  std::vector<OperationTotals> operations = operations_of(t);
  std::erase_if(operations, [](const OperationTotals& o) { return !is_listed(o); });
  if (operations.empty()) return {};
  ViewTable table = operations_table(t, {.top = kMost});
  if (operations.size() > kMost)
    table.title = fmt::format("Top {} of {} operations", kMost, operations.size());
  const auto placed = std::ranges::find_if(
      operations, [](const OperationTotals& o) { return !o.source.module.file.empty(); });
  if (placed != operations.end()) table.title += " of " + placed->source.module.file;
  if (operations.size() > kMost)
    table.title += file ? " (all: --view ops --top 0)" : " (all: --json)";
  return view_text({{table}}, style);
}

}  // namespace

std::string group_of(const StepTotals& step, const FusedOperation& operation, std::string_view by) {
  const auto named = [](const std::string& name) { return name.empty() ? "(none)" : name; };
  if (by == "opcode") return named(operation.operation);
  if (by == "python") return named(operation.source.python.text());
  if (by == "source") return named(operation.source.module.text());
  return step.info.fused.empty() ? step.operation_name : operation_of(step.info, operation);
}

std::vector<StepPart> parts_of(const StepTotals& step) {
  const std::vector<FusedOperation>& served = step.info.fused;
  const std::vector<Share> shares = shares_of(served);
  if (shares.empty())
    return {{{step.operation_name, step.info.operation, step.info.source, 1}, Share{}}};
  std::vector<StepPart> parts;
  for (std::size_t i = 0; i < served.size(); ++i) parts.push_back({served[i], shares[i]});
  return parts;
}

OperationTotals taken_by(const Share& share, const StepTotals& step) {
  const auto part = [&](std::uint64_t number) { return share.of(number); };
  const auto cycles = [&](Cycles number) { return Cycles(part(number.value())); };
  const bool moves = step.info.kind == StepInfo::Kind::kExchange;
  return {.flops = part(step.runs * step.info.flops),
          .compute = cycles(step.compute),
          .exchange = cycles(step.exchange),
          .sync = cycles(step.sync),
          .host = cycles(step.host),
          .exchange_bound = Cycles(
              moves ? share.of(std::min(step.count * step.info.bound_cycles, step.exchange.value()),
                               step.exchange.value())
                    : 0),
          .exchange_bytes = moves ? part(step.runs * step.info.exchange_bytes) : 0,
          .tile_cycles = part(step.tile_cycles),
          .peak_cycles = part(step.peak_cycles),
          .instructions = {.all = part(step.instructions.all),
                           .aux = part(step.instructions.aux),
                           .amp = part(step.instructions.amp)}};
}

std::vector<OperationTotals> operations_of(const TraceSummary& trace, std::string_view by) {
  std::vector<OperationTotals> operations;
  std::map<std::string, std::size_t> known;
  for (const StepTotals& step : trace.steps) {
    if (step.count == 0) continue;
    std::set<std::size_t> of_step;
    for (const auto& [operation, share] : parts_of(step)) {
      const auto [it, fresh] = known.emplace(group_of(step, operation, by), operations.size());
      if (fresh) operations.push_back({.name = it->first});
      OperationTotals& sums = operations[it->second];
      const bool is_of_step = it->first == step.operation_name;
      if (by == "operation" && (fresh || is_of_step)) {
        sums.opcode = is_of_step ? step.info.operation : operation.operation;
        sums.source = is_of_step ? step.info.source : operation.source;
      }
      add(sums, taken_by(share, step));
      if (!of_step.insert(it->second).second) continue;
      sums.supersteps += step.count;
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
  sums.instructions += other.instructions;
}

std::optional<IssueShares> issue_shares(const InstructionCounts& instructions,
                                        std::uint64_t tile_cycles) {
  if (tile_cycles == 0 || instructions.all == 0) return std::nullopt;
  const auto share = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(tile_cycles);
  };
  return IssueShares{share(instructions.main()), share(instructions.aux), share(instructions.amp)};
}

std::optional<IssueShares> issue_shares(const TraceSummary& t) {
  // Those of the auxiliary pipe are not in traces before format 1.8.
  return t.instructions.aux == 0 ? std::nullopt : issue_shares(t.instructions, t.tile_cycles);
}

std::string text_report(const TraceSummary& t, const TextStyle& style, const TraceFile* file) {
  const std::size_t columns = style.columns;
  // Of a program that does not fit nothing ran: there are no cycles.
  const bool ran = t.outcome != "oom";
  std::string out =
      filled(one_line(fmt::format("{} on {} ({}{} tiles, {:.3f} GHz)",
                                  without_middle(one_line(t.module), columns), t.machine_name,
                                  ran ? fmt::format("{} of ", t.tiles_used) : "", t.tiles,
                                  static_cast<double>(t.clock_hz) / 1e9)),
             2, columns);
  out += events_text(t, columns);
  if (ran)
    out += view_text({{parts_table(t)}}, style) + device_bar(t, style) + remarks_text(t, columns);
  std::vector<CompileEvent> shown;
  const auto is_shown = [](CompileEvent::Kind kind) {
    return costs_time(kind) || kind == CompileEvent::Kind::kWideEncoding;
  };
  std::ranges::copy_if(t.plan_events, std::back_inserter(shown), is_shown, &CompileEvent::kind);
  return out + plan_events_text(shown, columns) + worst_tile_text(t, columns) +
         details_text(file, columns) + top_text(t, style, file) + insights_text(t, style, file);
}

}  // namespace superstep
