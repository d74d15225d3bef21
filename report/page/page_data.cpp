#include "report/page/page_data.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "isa/machine_keys.h"
#include "report/codelet_totals.h"
#include "report/counterparts.h"
#include "report/diff.h"
#include "report/insights.h"
#include "report/json_text.h"
#include "report/page/encoding.h"
#include "report/plan_events.h"
#include "report/report.h"
#include "report/stream_totals.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;
using Numbers = std::vector<std::uint64_t>;

/// Columns of numbers, in order.
using NamedNumbers = std::vector<std::pair<std::string, Numbers>>;

ordered_json packed_columns(const NamedNumbers& columns) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, numbers] : columns) out[name] = packed(numbers);
  return out;
}

template <class T>
std::uint64_t as_number(const T& value) {
  return static_cast<std::uint64_t>(value);
}

/// A whole table: texts as they are, numbers packed.
template <class Table>
ordered_json table_columns(const TraceFile& trace, const Table& table) {
  using Row = typename Table::RowType;
  ordered_json out = ordered_json::object();
  const std::vector<Row> rows = trace.read(table);
  table.for_each_column([&]<class Get>(const Column<Get>& column) {
    const std::string name(column.name);
    if constexpr (std::is_same_v<StoredType<Row, Get>, std::string>) {
      ordered_json texts = ordered_json::array();
      for (const Row& row : rows) texts.push_back(stored_value(column, row, 0));
      out[name] = std::move(texts);
    } else {
      Numbers numbers;
      for (const Row& row : rows)
        numbers.push_back(as_number(stored_value(column, row, numbers.size())));
      out[name] = packed(numbers);
    }
  });
  return out;
}

/// What tiles hold: their peaks, and for each category the bytes of all tiles.
ordered_json memory_columns(const TraceFile& trace) {
  ordered_json out = table_columns(trace, kTilePeaks);
  const std::vector<std::string> categories = trace.read_text("/memory/category");
  out["category"] = categories;
  out["bytes"] = ordered_json::array();
  const std::uint64_t tiles = trace.read(kTilePlaces).size();
  const auto bytes = trace.read_wide<std::uint32_t>("/memory/bytes", 0, tiles);
  for (std::size_t c = 0; c < categories.size(); ++c) {
    Numbers of_tiles;
    for (std::size_t i = c; i < bytes.size(); i += categories.size()) of_tiles.push_back(bytes[i]);
    out["bytes"].push_back(packed(of_tiles));
  }
  return out;
}

/// The supersteps of a page: those that differ, and which of them each one is.
struct Supersteps {
  NamedNumbers each;      ///< columns that have a number of their own in each superstep
  Numbers row;            ///< of `distinct`, by superstep
  NamedNumbers distinct;  ///< the other columns
  Numbers first_launch;   ///< by row of `distinct`, and one more
  NamedNumbers launches;
  std::uint64_t total = 0;  ///< that the trace has
};

constexpr std::string_view kOfEach[] = {"superstep", "start_cycle", "iteration", "trip"};

/// Adds the numbers of a row to those of columns, which get their names from the first row.
template <class Table>
void add_row(const Table& table, const typename Table::RowType& row, std::uint64_t number,
             bool of_each, std::vector<std::pair<std::string_view, std::uint64_t>>& out) {
  table.for_each_column([&](const auto& column) {
    if ((std::ranges::find(kOfEach, column.name) != std::end(kOfEach)) == of_each)
      out.emplace_back(column.name, as_number(stored_value(column, row, number)));
  });
}

/// Adds a number and answers how many bytes that is.
std::uint64_t append(Numbers& numbers, std::uint64_t number) {
  const std::uint64_t before = numbers.empty() ? 0 : numbers.back();
  numbers.push_back(number);
  return packed_bytes(before, number);
}

std::uint64_t append(NamedNumbers& columns,
                     const std::vector<std::pair<std::string_view, std::uint64_t>>& row) {
  if (columns.empty())
    for (const auto& [name, number] : row) columns.emplace_back(name, Numbers{});
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < row.size(); ++c) bytes += append(columns[c].second, row[c].second);
  return bytes;
}

/// The first `most` supersteps, as far as they take at most so many bytes.
Supersteps read_supersteps(const TraceFile& trace, std::uint64_t most, std::uint64_t most_bytes) {
  Supersteps out;
  out.total = trace.rows(kSupersteps);
  out.first_launch.push_back(0);
  std::map<Numbers, std::uint64_t> known;
  std::uint64_t bytes = 0;
  const auto add = [&](const SuperstepInFile& superstep) {
    if (bytes * 4 / 3 >= most_bytes) return;
    const std::uint64_t number = out.row.size();
    std::vector<std::pair<std::string_view, std::uint64_t>> of_each, shared;
    add_row(kSupersteps, superstep.row, number, true, of_each);
    add_row(kSupersteps, superstep.row, number, false, shared);
    if (superstep.profiles) add_row(kProfileNumbers, *superstep.profiles, number, false, shared);
    Numbers key;
    for (const auto& [name, value] : shared) key.push_back(value);
    for (const LaunchRow& row : superstep.launches)
      key.insert(key.end(), {row.step, row.cycles, row.runs});
    const auto [found, is_new] = known.emplace(std::move(key), known.size());
    bytes += append(out.each, of_each) + append(out.row, found->second);
    if (!is_new) return;
    bytes += append(out.distinct, shared);
    for (const LaunchRow& row : superstep.launches)
      bytes +=
          append(out.launches, {{"step", row.step}, {"cycles", row.cycles}, {"runs", row.runs}});
    bytes += append(out.first_launch, out.first_launch.back() + superstep.launches.size());
  };
  trace.for_each_superstep(0, std::min(out.total, most), add);
  return out;
}

const Numbers& column(const NamedNumbers& columns, std::string_view name) {
  static const Numbers kNone;
  const auto found = std::ranges::find(
      columns, name, [](const auto& named) -> const auto& { return named.first; });
  return found == columns.end() ? kNone : found->second;
}

/// The profiles that supersteps name in a column, those first whose supersteps take longest.
Numbers profiles_by_cycles(const Supersteps& supersteps, std::string_view name) {
  const Numbers& profile = column(supersteps.distinct, name);
  std::map<std::uint64_t, std::uint64_t> cycles;
  constexpr std::string_view kParts[] = {"exchange_cycles", "compute_cycles", "sync_cycles",
                                         "host_cycles"};
  std::vector<const Numbers*> parts;
  for (const std::string_view part : kParts) parts.push_back(&column(supersteps.distinct, part));
  for (const std::uint64_t row : supersteps.row) {
    if (profile[row] == kNoProfile) continue;
    for (const Numbers* part : parts) cycles[profile[row]] += (*part)[row];
  }
  Numbers order;
  for (const auto& [number, sum] : cycles) order.push_back(number);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint64_t p) { return cycles[p]; });
  return order;
}

/// Rows of tiles of each profile, by column; null for those that there is no room for.
ordered_json profile_columns(const TraceFile& trace, const Supersteps& supersteps,
                             const std::string& group, std::string_view number_column,
                             const std::vector<std::string>& names, std::uint64_t most_bytes) {
  ordered_json out = ordered_json::object();
  const Numbers order = profiles_by_cycles(supersteps, number_column);
  const std::uint64_t count = order.empty() ? 0 : std::ranges::max(order) + 1;
  for (const std::string& name : names) out[name] = ordered_json(std::vector<ordered_json>(count));
  constexpr std::uint64_t kAround = 5;  // a comma and `null`, or what stands around a text
  std::uint64_t bytes = kAround * count * names.size();
  for (const std::uint64_t profile : order) {
    std::vector<std::string> texts;
    for (const std::string& name : names) {
      texts.push_back(
          packed(trace.read_wide<std::uint64_t>(fmt::format("{}/{}", group, name), profile, 1)));
      bytes += texts.back().size();
    }
    if (bytes > most_bytes) break;
    for (std::size_t i = 0; i < names.size(); ++i) out[names[i]][profile] = std::move(texts[i]);
  }
  return out;
}

/// What the workers of all supersteps do by codelet, and the operation for which most. Of each tile
/// and step the busiest worker counts for all of them in `busiest_cycles`.
ordered_json codelet_columns(const TraceFile& trace, std::uint64_t workers) {
  NamedNumbers out;
  for (const CodeletTotals& of : codelet_totals(trace, workers)) {
    const auto most = std::ranges::max_element(
        of.by_operation, {}, [](const auto& operation) { return operation.second; });
    append(out, {{"vertex_type", of.number ? *of.number : UINT64_MAX},
                 {"runs", of.runs},
                 {"cycles", of.cycles},
                 {"busiest_cycles", of.slots},
                 {"longest_cycles", of.longest.length},
                 {"instructions", of.instructions.all},
                 {"operation", most->first}});
  }
  return packed_columns(out);
}

/// What workers do, in the first supersteps of which all fits.
ordered_json worker_columns(const TraceFile& trace, std::uint64_t most_bytes) {
  NamedNumbers out;
  std::uint64_t bytes = 0, begin = 0, rows = 0;  // begin: of the last superstep
  const std::uint64_t count = trace.rows(kVertices), most_rows = rows_at_once(kVertices.level);
  const auto is_full = [&] { return bytes * 4 / 3 >= most_bytes; };
  for (std::uint64_t first = 0; first < count && !is_full(); first += most_rows) {
    for (const VertexRow& row : trace.read(kVertices, first, std::min(most_rows, count - first))) {
      if (is_full()) break;
      if (rows > 0 && row.superstep != out.front().second.back()) begin = rows;
      bytes += append(out, {{"superstep", row.superstep},
                            {"tile", row.tile},
                            {"worker", row.worker},
                            {"step", row.step},
                            {"vertex_type", row.vertex_type ? *row.vertex_type : UINT64_MAX},
                            {"start_cycle", row.begin},
                            {"cycles", row.length},
                            {"instructions", row.instructions.all}});
      ++rows;
    }
  }
  if (rows < count)
    for (auto& [name, numbers] : out) numbers.resize(begin);
  return packed_columns(out);
}

template <class... Tables>
ordered_json tables(const TraceFile& trace, const Tables&... table) {
  ordered_json out = ordered_json::object();
  ((out[std::string(table.group)] = table_columns(trace, table)), ...);
  return out;
}

/// What each step added up to, by its number.
ordered_json step_sums(const TraceSummary& summary) {
  NamedNumbers out;
  for (const StepTotals& step : summary.steps) {
    append(out, {{"count", step.count},
                 {"runs", step.runs},
                 {"compute_cycles", step.compute.value()},
                 {"exchange_cycles", step.exchange.value()},
                 {"sync_cycles", step.sync.value()},
                 {"host_cycles", step.host.value()},
                 {"critical_tile", index(step.worst)},
                 {"tile_cycles", step.tile_cycles},
                 {"peak_cycles", step.peak_cycles}});
  }
  return packed_columns(out);
}

/// What streams move over the host link in all their transfers, by their number.
ordered_json stream_sums(const TraceFile& trace) {
  NamedNumbers out;
  for (const StreamTotals& stream : stream_totals(trace))
    append(out, {{"transfers", stream.transfers},
                 {"moved_bytes", stream.moved_bytes},
                 {"packets", stream.packets},
                 {"cycles", stream.cycles.value()}});
  return packed_columns(out);
}

/// Operations that share steps, with what their shares go by.
ordered_json fused_columns(const TraceSummary& summary) {
  NamedNumbers numbers;
  ordered_json names = ordered_json::array(), groups = names, opcodes = names, sources = names,
               lines = names;
  for (std::uint64_t step = 0; step < summary.steps.size(); ++step) {
    for (const FusedOperation& operation : summary.steps[step].info.fused) {
      groups.push_back(group_of(summary.steps[step], operation, "operation"));
      append(numbers, {{"step", step}, {"weight", operation.cycles_alone}});
      names.push_back(operation.name);
      opcodes.push_back(operation.operation);
      sources.push_back(operation.source.module.text());
      lines.push_back(operation.source.python.text());
    }
  }
  ordered_json out = packed_columns(numbers);
  out["name"] = std::move(names);
  out["of"] = std::move(groups);
  out["opcode"] = std::move(opcodes);
  out["source"] = std::move(sources);
  out["python"] = std::move(lines);
  return out;
}

/// Operations added up by one of `kStepGroupings`, as reports do: fused ones with their shares.
ordered_json group_columns(const TraceSummary& summary, std::string_view by) {
  NamedNumbers numbers;
  ordered_json names = ordered_json::array();
  for (const OperationTotals& group : operations_of(summary, by)) {
    names.push_back(group.name);
    append(numbers, {{"compute_cycles", group.compute.value()},
                     {"exchange_cycles", group.exchange.value()},
                     {"sync_cycles", group.sync.value()},
                     {"host_cycles", group.host.value()},
                     {"supersteps", group.supersteps},
                     {"runs", group.runs},
                     {"flops", group.flops}});
  }
  ordered_json out = packed_columns(numbers);
  out["name"] = std::move(names);
  return out;
}

/// Of keys of machines whose values are names: these, by number.
ordered_json key_names() {
  ordered_json out = ordered_json::object();
  MachineConfig machine;
  for_each_key(machine, [&](const Key& key, const auto&) {
    if (!key.names.empty()) out[key.name] = key.names;
  });
  return out;
}

/// Unit and meaning of every column, by path, so that a page explains its numbers.
ordered_json meanings() {
  ordered_json out = ordered_json::object();
  for (const TraceColumn& described : trace_columns())
    out[described.path] = {described.unit, described.meaning};
  return out;
}

/// What moved in tables that pages make nothing else of, as `report diff` has it; by view.
ordered_json differences(const TraceFile& before, const TraceSummary& was, const TraceFile& after,
                         const TraceSummary& is, const Counterparts& known) {
  constexpr std::string_view kViews[] = {"exchange", "host", "tiles", "codelets"};
  constexpr std::size_t kMostRows = 250;
  const ViewOptions options{.top = kMostRows};
  ordered_json out = ordered_json::object();
  for (const ReportView& view : report_views())
    if (std::ranges::find(kViews, view.name) != std::end(kViews))
      out[std::string(view.name)] = view_document(moved_tables(
          {before, was, options}, {after, is, options}, view, known, {"Run A", "Run B"}));
  return out;
}

}  // namespace

ordered_json page_document(const TraceFile& trace, const PageLimits& limits) {
  const TraceSummary summary = trace.summary();
  ordered_json out;
  out["file"] = trace.path().filename().string();
  out["format_version"] = summary.format_version;
  out["level"] = summary.level;
  out["complete"] = summary.complete;
  out["report"] = report_document(summary);
  const Insights insights = look_for_insights(summary, &trace);
  out["insights"] = insights_document(insights.found);
  out["silent_rules"] = view_document({{silent_rules_table(insights.silent, summary)}}).front();
  std::vector<CompileEvent> costly;
  std::ranges::copy_if(summary.plan_events, std::back_inserter(costly), costs_time,
                       &CompileEvent::kind);
  out["costly_choices"] = plan_events_document(costly);
  out["provenance"] = summary.provenance;
  out["machine_toml"] = summary.machine_toml;
  const std::vector<MachineText> text = trace.read(kMachineText);
  out["machine_origin"] = text.empty() ? "" : text.front().origin;
  out["meanings"] = meanings();
  out["key_names"] = key_names();
  out["tables"] = tables(trace, kTilePlaces, kParameters, kUsedTiles, kOperations, kSteps,
                         kVertexTypes, kVariables, kStreams, kLiveness);
  out["tables"]["/memory"] = memory_columns(trace);
  out["tables"]["step_sums"] = step_sums(summary);
  out["tables"]["fused"] = fused_columns(summary);
  if (trace.has(kTransfers)) out["tables"]["stream_sums"] = stream_sums(trace);
  for (const std::string_view by : kStepGroupings)
    if (by != "operation") out["tables"][fmt::format("by_{}", by)] = group_columns(summary, by);
  if (trace.has(kVertices)) out["tables"]["codelets"] = codelet_columns(trace, summary.workers);
  const auto left = [&] {
    const std::uint64_t taken = json_text(out).size();
    return limits.bytes - std::min(limits.bytes, taken);
  };
  // Rows of tiles have what is left, two fifths at least.
  const Supersteps supersteps = read_supersteps(
      trace, limits.supersteps, trace.has(kComputePhases) ? left() * 3 / 5 : left());
  out["supersteps_in_trace"] = supersteps.total;
  out["tables"]["/supersteps"] = packed_columns(supersteps.each);
  out["tables"]["/supersteps"]["row"] = packed(supersteps.row);
  out["tables"]["distinct"] = packed_columns(supersteps.distinct);
  out["tables"]["distinct"]["first_launch"] = packed(supersteps.first_launch);
  out["tables"]["launches"] = packed_columns(supersteps.launches);
  if (trace.has(kVertices)) out["tables"]["/vertices"] = worker_columns(trace, left() / 3);
  out["profiles"] = ordered_json::object();
  if (trace.has(kComputePhases)) {
    const std::uint64_t of_each = left() / 2;
    out["profiles"]["compute"] =
        profile_columns(trace, supersteps, "/profiles/compute", "compute_profile",
                        {"cycles", "wait_cycles"}, of_each);
    out["profiles"]["exchange"] =
        profile_columns(trace, supersteps, "/profiles/exchange", "exchange_profile",
                        {"cycles", "sent_bytes", "received_bytes"}, of_each);
  }
  return out;
}

std::vector<ordered_json> page_documents(const TraceFile& before, const TraceFile& after,
                                         const PageLimits& limits) {
  const TraceSummary was = before.summary(), is = after.summary();
  const Counterparts known = counterparts(was, is);
  ordered_json moved = differences(before, was, after, is, known);
  ordered_json names;
  for (const auto& [by, groups] : known.groups) names[std::string(by)] = groups;
  names["alone"] = known.operations;
  const auto without = [](std::uint64_t bytes, const ordered_json& document) {
    return bytes - std::min<std::uint64_t>(bytes, json_text(document).size());
  };
  // The first has half of the room, the second what is left.
  PageLimits left = limits;
  left.bytes = without(without(left.bytes, names), moved);
  std::vector<ordered_json> out{
      page_document(before, {.supersteps = limits.supersteps, .bytes = left.bytes / 2})};
  left.bytes = without(left.bytes, out.front());
  out.push_back(page_document(after, left));
  out.back()["counterparts"] = std::move(names);
  out.back()["differences"] = std::move(moved);
  out.back()["difference_of_programs"] = difference_of_programs(known);
  return out;
}

}  // namespace superstep
