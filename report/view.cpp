#include "report/view.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "report/numbers.h"
#include "report/text_table.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

constexpr std::string_view kGroupBy = "group-by", kMatch = "match", kTop = "top";
constexpr std::string_view kGroupsTake[] = {kGroupBy, kMatch, kTop}, kLongTake[] = {kMatch, kTop},
                           kMatchAlone[] = {kMatch}, kTopAlone[] = {kTop};
constexpr ReportView kViews[] = {
    {"ops", "operations, most device cycles first; --group-by adds them up otherwise", ops_view,
     kGroupsTake},
    {"steps", "steps of the program in its order, with prediction and bound", steps_view,
     kLongTake},
    {"supersteps", "supersteps of the run, longest first", supersteps_view, kLongTake},
    {"tiles", "how work is spread over tiles, and which tiles others wait for", tiles_view,
     kTopAlone},
    {"memory", "memory of tiles by category, liveness, the biggest tensors", memory_view,
     kLongTake},
    {"exchange", "exchanges beside their schedules and bounds", exchange_view, kLongTake},
    {"host", "what crossed the host link, by stream", host_view, kMatchAlone},
    {"bounds", "operations beside what even tiles and the words of the busiest ports would take",
     bounds_view, kGroupsTake},
    {"bsp", "kinds of supersteps as w + g h + l beside what they took", bsp_view, kLongTake},
    {"insights", "what is worth a look, and what to try", insights_view, {}},
};

bool is_drawn(Form form) { return form == Form::kBar || form == Form::kPhaseBar; }
bool is_left(Form form) { return form == Form::kText || is_drawn(form); }
constexpr std::size_t kLeastBar = 8, kMostBar = 40;

/// Four digits or more: no one reads hundredths of thousands.
std::string real_text(double real) {
  if (std::abs(real) < 100) return fmt::format("{:.2f}", real);
  if (std::abs(real) < 10'000) return fmt::format("{:.1f}", real);
  return (real < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::abs(real) + 0.5));
}

/// `+1,234`, `-5`, or nothing where nothing moved.
std::string moved_text(std::int64_t by) {
  if (by == 0) return {};
  return (by < 0 ? "-" : "+") + grouped(static_cast<std::uint64_t>(std::abs(by)));
}

std::string cell_text(const ViewCell& cell, Form form, const TimeColumn& times) {
  if (const auto* text = std::get_if<std::string>(&cell)) return one_line(*text);
  if (const auto* whole = std::get_if<std::uint64_t>(&cell)) {
    if (form == Form::kBytes) return bytes_text(*whole);
    return form == Form::kTime ? times.text(Cycles(*whole)) : grouped(*whole);
  }
  if (const auto* moved = std::get_if<std::int64_t>(&cell)) return moved_text(*moved);
  if (const auto* real = std::get_if<double>(&cell))
    return form == Form::kShare ? fmt::format("{:.1f}", 100 * *real) : real_text(*real);
  return {};
}

std::string drawn(const ViewCell& cell, Form form, std::size_t width, const TextStyle& style) {
  if (form == Form::kPhaseBar) {
    const auto* shares = std::get_if<std::vector<double>>(&cell);
    return shares ? phase_bar(*shares, width, style) : "";
  }
  const auto* share = std::get_if<double>(&cell);
  return share ? bar(*share, width, style) : "";
}

/// The greatest whole number of a column.
std::uint64_t most_of(const ViewTable& view, std::size_t column) {
  std::uint64_t most = 0;
  for (const auto& row : view.rows)
    if (const auto* whole = std::get_if<std::uint64_t>(&row[column])) most = std::max(most, *whole);
  return most;
}

/// The table with these columns, bars of a width.
TextTable table_of(const ViewTable& view, const std::vector<std::size_t>& columns,
                   const TimeColumn& times, std::size_t bar_width, const TextStyle& style) {
  std::vector<TextTable::Align> aligns;
  std::vector<std::string> names;
  std::vector<BytesColumn> units;
  for (const std::size_t c : columns) {
    const ViewColumn& column = view.columns[c];
    const BytesColumn bytes(column.form == Form::kBytes ? most_of(view, c) : 0);
    units.push_back(bytes);
    aligns.push_back(is_left(column.form) ? TextTable::Align::kLeft : TextTable::Align::kRight);
    names.push_back(column.form == Form::kTime ? fmt::format("{} ({})", column.name, times.unit())
                    : column.form == Form::kBytes
                        ? fmt::format("{} ({})", column.name, bytes.unit())
                    : column.form == Form::kShare && column.name.find('%') == std::string::npos
                        ? column.name + " %"
                    : is_drawn(column.form) ? ""
                                            : column.name);
  }
  TextTable table(std::move(aligns));
  table.add(std::move(names));
  for (const auto& row : view.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ViewCell& cell = row[columns[i]];
      const Form form = view.columns[columns[i]].form;
      const auto* bytes = form == Form::kBytes ? std::get_if<std::uint64_t>(&cell) : nullptr;
      cells.push_back(is_drawn(form) ? drawn(cell, form, bar_width, style)
                      : bytes        ? units[i].text(*bytes)
                                     : cell_text(cell, form, times));
    }
    table.add(std::move(cells));
  }
  return table;
}

/// Rows as paragraphs: the name, and below it the other cells.
std::string paragraphs(const ViewTable& view, std::uint64_t clock_hz, const TextStyle& style) {
  std::string out;
  for (const auto& row : view.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const ViewColumn& column = view.columns[c];
      const std::string text = cell_text(row[c], column.form, TimeColumn(Cycles(), clock_hz));
      if (text.empty()) continue;
      out += c == 0 ? heading(text, style) + "\n"
                    : "  " + filled(column.name + ": " + text, 4, style.columns - 2);
    }
  }
  return out;
}

std::string table_text(const ViewTable& view, std::uint64_t clock_hz, const TextStyle& style) {
  std::string notes;
  for (const std::string& note : view.notes) notes += filled(one_line(note), 0, style.columns);
  const std::string title = heading(one_line(view.title), style) + "\n";
  if (view.is_prose) {
    return title + paragraphs(view, clock_hz, style) + notes;
  }
  if (view.rows.empty()) return title + notes;
  std::uint64_t longest = 0;
  bool has_phases = false, has_bar = false;
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < view.columns.size(); ++c) {
    const Form form = view.columns[c].form;
    has_phases = has_phases || form == Form::kPhaseBar;
    has_bar = has_bar || is_drawn(form);
    if (form != Form::kTime || clock_hz != 0) columns.push_back(c);
    if (form == Form::kTime) longest = std::max(longest, most_of(view, c));
  }
  const TimeColumn times(Cycles(longest), clock_hz);
  const auto width = [&](std::size_t bars, std::size_t most_text) {
    return table_of(view, columns, times, bars, style).width(most_text);
  };
  // Columns go before names are cut to less than this.
  const std::size_t text = style.columns * 2 / 5;
  while (width(kLeastBar, text) > style.columns) {
    const auto last =
        std::ranges::max_element(columns, {}, [&](std::size_t c) { return view.columns[c].extra; });
    if (last == columns.end() || view.columns[*last].extra == 0) break;
    columns.erase(last);
  }
  std::size_t bars = kLeastBar;
  while (has_bar && bars < kMostBar && width(bars + 1, SIZE_MAX) <= style.columns) ++bars;
  TextTable table = table_of(view, columns, times, bars, style);
  table.fit(style.columns);
  std::string out = title + table.text();
  has_phases = has_phases && std::ranges::any_of(columns, [&](std::size_t c) {
                 return view.columns[c].form == Form::kPhaseBar;
               });
  if (has_phases) out += phase_legend(style) + "\n";
  return out + notes;
}

}  // namespace

std::span<const ReportView> report_views() { return kViews; }

std::string view_text(std::span<const ViewTable> tables, std::uint64_t clock_hz,
                      const TextStyle& style) {
  std::string out;
  for (const ViewTable& table : tables)
    out += (out.empty() ? "" : "\n") + table_text(table, clock_hz, style);
  return out;
}

nlohmann::ordered_json view_document(std::span<const ViewTable> tables) {
  auto list = nlohmann::ordered_json::array();
  for (const ViewTable& table : tables) {
    nlohmann::ordered_json out{{"name", table.name}, {"title", table.title}};
    out["columns"] = nlohmann::ordered_json::array();
    out["rows"] = nlohmann::ordered_json::array();
    const auto is_shown = [](const ViewColumn& column) {
      return !is_drawn(column.form) && column.form != Form::kTime;
    };
    for (const ViewColumn& column : table.columns) {
      if (!is_shown(column)) continue;
      std::string name = column.name;
      std::ranges::replace(name, ' ', '_');
      const bool is_cycles = column.form == Form::kCycles || column.form == Form::kMoved;
      out["columns"].push_back({{"name", name},
                                {"unit", is_cycles                     ? "cycle"
                                         : column.form == Form::kBytes ? "B"
                                                                       : column.unit}});
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
    list.push_back(std::move(out));
  }
  return list;
}

bool matches(const ViewOptions& options, const std::string& name) {
  return fnmatch(options.match.c_str(), name.c_str(), 0) == 0;
}

void note_no_match(ViewTable& table, const ViewOptions& options) {
  if (table.rows.empty() && options.match != "*")
    table.notes = {fmt::format("Nothing here has a name like '{}'.", options.match)};
}

void note_no_supersteps(ViewTable& table) {
  table.notes.emplace_back("It takes a trace of level superstep (`--trace superstep`).");
}

}  // namespace superstep
