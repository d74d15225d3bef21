#include "report/view.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <type_traits>

#include "report/numbers.h"
#include "report/report.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// As `kStepGroupings` has them, and by call.
constexpr std::string_view kCall = "call";
constexpr std::string_view kGroupings[] = {"operation", "opcode", "python", "source", kCall};
constexpr std::string_view kGroupBy = "group-by", kMatch = "match", kTop = "top";
constexpr std::string_view kGroupsTake[] = {kGroupBy, kMatch, kTop}, kLongTake[] = {kMatch, kTop},
                           kTopAlone[] = {kTop};
constexpr TraceLevel kFromSummary = TraceLevel::kSummary, kSuperstep = TraceLevel::kSuperstep;
constexpr ReportView kViews[] = {
    {"ops", "operations, most device cycles first; --group-by adds them up otherwise", ops_view,
     kGroupsTake, kGroupings, kFromSummary, true},
    {"steps",
     "steps of the program in its order, with prediction and bound",
     steps_view,
     kLongTake,
     {},
     kFromSummary,
     true},
    {"supersteps",
     "supersteps of the run, longest first",
     supersteps_view,
     kLongTake,
     {},
     kSuperstep},
    {"tiles",
     "how work is spread over tiles, and which tiles others wait for",
     tiles_view,
     kTopAlone,
     {},
     kSuperstep,
     true},
    {"memory",
     "memory of tiles by category, liveness, the biggest tensors",
     memory_view,
     kLongTake,
     {},
     kFromSummary,
     true},
    {"exchange",
     "exchanges beside their schedules and bounds",
     exchange_view,
     kLongTake,
     {},
     kFromSummary,
     true},
    {"host",
     "what crossed the host link, by stream, longest first",
     host_view,
     kLongTake,
     {},
     kSuperstep,
     true},
    {"bounds", "operations beside what even tiles and the words of the busiest ports would take",
     bounds_view, kGroupsTake, kStepGroupings, kSuperstep},
    {"bsp",
     "kinds of supersteps as w + g h + l beside what they took",
     bsp_view,
     kLongTake,
     {},
     kSuperstep},
    {"codelets",
     "what workers do by codelet, and instructions, of the window that is traced",
     codelets_view,
     kLongTake,
     {},
     TraceLevel::kVertex,
     true},
    {"insights", "what is worth a look, what to try, and what rules without a word measured",
     insights_view, kTopAlone},
};

}  // namespace

std::span<const ReportView> report_views() { return kViews; }

std::string what_lacks(const ReportView& view, const ViewInput& input) {
  const TraceLevel level = trace_level(input.trace.level).value_or(view.level);
  const bool is_by_call = input.options.group_by == kCall;
  const TraceLevel least = is_by_call ? std::max(view.level, kSuperstep) : view.level;
  if (level < least)
    return fmt::format(
        "{} takes a trace of level {}, this one is of level {}: run again with `--trace {}`.",
        is_by_call ? "--group-by call" : fmt::format("--view {}", view.name), name_of(least),
        name_of(level), name_of(least));
  if (least >= kSuperstep && input.file.rows(kSupersteps) == 0)
    return fmt::format("--view {} has nothing to show: no superstep of the run ended.", view.name);
  return {};
}

std::vector<ViewTable> tables_of(const ReportView& view, const ViewInput& input) {
  std::string lacks = what_lacks(view, input);
  if (lacks.empty()) return view.tables(input);
  return {{.name = std::string(view.name), .notes = {std::move(lacks)}}};
}

ViewCell time_cell(double cycles, std::uint64_t clock_hz) {
  return cell_if(clock_hz != 0, nanoseconds(cycles, clock_hz));
}
ViewCell time_cell(Cycles cycles, std::uint64_t clock_hz) {
  return time_cell(static_cast<double>(cycles.value()), clock_hz);
}

nlohmann::ordered_json view_document(std::span<const ViewTable> tables) {
  auto list = nlohmann::ordered_json::array();
  for (const ViewTable& table : tables) {
    nlohmann::ordered_json out{{"name", table.name}, {"title", table.title}};
    out["columns"] = nlohmann::ordered_json::array();
    out["rows"] = nlohmann::ordered_json::array();
    const auto is_shown = [](const ViewColumn& column) {
      return !column.is_drawn() && !column.is_time();
    };
    for (const ViewColumn& column : table.columns) {
      if (!is_shown(column)) continue;
      std::string name = column.name;
      std::ranges::replace(name, ' ', '_');
      const bool is_cycles =
          column.unit.empty() && (column.form == Form::kCycles || column.form == Form::kMoved);
      out["columns"].push_back({{"name", name},
                                {"unit", is_cycles           ? "cycle"
                                         : column.is_bytes() ? "B"
                                                             : column.unit},
                                {"meaning", column.meaning}});
    }
    for (const auto& row : table.rows) {
      auto cells = nlohmann::ordered_json::array();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (!is_shown(table.columns[c])) continue;
        std::visit(
            [&]<class T>(const T& value) {
              if constexpr (std::is_same_v<T, std::monostate>) {
                cells.push_back(nullptr);
              } else {
                cells.push_back(value);
              }
            },
            row[c]);
      }
      out["rows"].push_back(std::move(cells));
    }
    out["notes"] = table.notes;
    list.push_back(std::move(out));
  }
  return list;
}

std::string pattern_problem(std::string_view pattern) {
  if (pattern.empty()) return "an empty pattern means no name; * means all";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return "a \\ has nothing behind it";
      continue;
    }
    if (pattern[i] != '[') continue;
    // A ] that comes first is one of the characters.
    std::size_t first = i + 1;
    if (first < pattern.size() && (pattern[first] == '!' || pattern[first] == '^')) ++first;
    i = pattern.find(']', first + 1);
    if (i == std::string_view::npos) return "a [ has no ]; [[] means a [";
  }
  return {};
}

bool matches(const ViewOptions& options, const std::string& name) {
  return fnmatch(options.match.c_str(), name.c_str(), 0) == 0;
}

void note_no_match(ViewTable& table, const ViewOptions& options) {
  if (table.rows.empty() && options.match != "*")
    table.notes = {fmt::format("Nothing here has a name like '{}'.", options.match)};
}

void note_more(ViewTable& table, std::uint64_t rows) {
  if (rows != 0) table.notes.push_back(fmt::format("{} more (`--top 0`).", grouped(rows)));
}

}  // namespace superstep
