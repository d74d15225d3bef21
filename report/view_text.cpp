#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "report/numbers.h"
#include "report/text_table.h"
#include "report/view.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

constexpr std::size_t kLeastBar = 8, kMostBar = 40;

/// Decimals of the real numbers of a column, by the greatest: no one reads hundredths of thousands.
int decimals_of(double most) { return most < 100 ? 2 : most < 10'000 ? 1 : 0; }

/// With so many decimals, and in groups of three digits.
std::string real_text(double real, int decimals) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(real), decimals);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  return (real < 0 ? "-" : "") + grouped(std::stoull(digits.substr(0, point))) +
         digits.substr(point);
}

/// `+1,234`, `-5`, or nothing where nothing moved.
std::string moved_text(std::int64_t by) {
  if (by == 0) return {};
  return (by < 0 ? "-" : "+") + grouped(static_cast<std::uint64_t>(std::abs(by)));
}

/// In percent, or how many times as much where that is easier to read.
std::string moved_share_text(double by) {
  constexpr double kManyTimes = 10;
  const double times = 1 + by;
  if (times < kManyTimes) return fmt::format("{:.1f}", 100 * by);
  return times < 100 ? fmt::format("x {:.1f}", times)
                     : "x " + grouped(static_cast<std::uint64_t>(std::llround(times)));
}

/// Whether there is something to show: what moved by 0 is nothing.
bool is_there(const ViewCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  const auto* moved = std::get_if<std::int64_t>(&cell);
  if (moved) return *moved != 0;
  return text ? !text->empty() : !std::holds_alternative<std::monostate>(cell);
}

/// `decimals`: of real numbers.
std::string cell_text(const ViewCell& cell, Form form, const TimeColumn& times, int decimals = 2) {
  if (const auto* text = std::get_if<std::string>(&cell)) return one_line(*text);
  if (const auto* whole = std::get_if<std::uint64_t>(&cell))
    return form == Form::kBytes ? bytes_text(*whole) : grouped(*whole);
  if (const auto* moved = std::get_if<std::int64_t>(&cell)) return moved_text(*moved);
  const auto* real = std::get_if<double>(&cell);
  if (!real) return {};
  if (form == Form::kTime) return times.text(*real);
  if (form == Form::kMovedTime) return *real == 0 ? "" : (*real > 0 ? "+" : "") + times.text(*real);
  if (form == Form::kMovedShare) return moved_share_text(*real);
  return form == Form::kShare ? fmt::format("{:.1f}", 100 * *real) : real_text(*real, decimals);
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
  for (const auto& row : view.rows) {
    if (const auto* whole = std::get_if<std::uint64_t>(&row[column])) most = std::max(most, *whole);
    if (const auto* moved = std::get_if<std::int64_t>(&row[column]))
      most = std::max(most, static_cast<std::uint64_t>(std::abs(*moved)));
  }
  return most;
}

/// The greatest real number of a column.
double most_real_of(const ViewTable& view, std::size_t column) {
  double most = 0;
  for (const auto& row : view.rows)
    if (const auto* real = std::get_if<double>(&row[column]))
      most = std::max(most, std::abs(*real));
  return most;
}

/// The unit of all times of a table.
TimeColumn times_of(const ViewTable& view) {
  double longest = 0;
  for (const auto& row : view.rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (const auto* ns = std::get_if<double>(&row[c]); ns && view.columns[c].is_time())
        longest = std::max(longest, std::abs(*ns));
  return TimeColumn(longest);
}

std::string heading_of(const ViewColumn& column, const TimeColumn& times,
                       const BytesColumn& bytes) {
  if (column.is_drawn()) return {};
  if (column.is_time()) return fmt::format("{} ({})", column.name, times.unit());
  if (column.is_bytes()) return fmt::format("{} ({})", column.name, bytes.unit());
  const bool is_share = column.form == Form::kShare || column.form == Form::kMovedShare;
  return is_share && column.name.find('%') == std::string::npos ? column.name + " %" : column.name;
}

/// Bytes in the unit of their column, those that moved with a sign.
std::string bytes_cell(const ViewCell& cell, const BytesColumn& bytes) {
  if (const auto* whole = std::get_if<std::uint64_t>(&cell)) return bytes.text(*whole);
  const auto moved = std::get<std::int64_t>(cell);
  return (moved < 0 ? "-" : "+") + bytes.text(static_cast<std::uint64_t>(std::abs(moved)));
}

std::string without_folders(const std::string& place) { return place.substr(place.rfind('/') + 1); }

/// A column of a table that is shown.
struct ShownColumn {
  std::size_t number = 0;  ///< in the view
  const ViewColumn* column = nullptr;
  std::vector<std::string> texts = {};  ///< the heading, then a cell of each row; none if drawn
  std::size_t width = 0, width_with_folders = 0;
};

/// How wide what is drawn is, and how much places say.
struct Layout {
  std::size_t bar_width = kLeastBar;
  bool has_folders = false;
};

/// Those with a cell.
std::vector<ShownColumn> shown_columns(const ViewTable& view) {
  const TimeColumn times = times_of(view);
  std::vector<ShownColumn> shown;
  for (std::size_t c = 0; c < view.columns.size(); ++c) {
    const ViewColumn& column = view.columns[c];
    const auto has_cell = [&](const std::vector<ViewCell>& row) { return is_there(row[c]); };
    if (std::ranges::none_of(view.rows, has_cell)) continue;
    ShownColumn& out = shown.emplace_back(ShownColumn{.number = c, .column = &column});
    if (column.is_drawn()) continue;
    const BytesColumn bytes(column.is_bytes() ? most_of(view, c) : 0);
    const int decimals = decimals_of(most_real_of(view, c));
    out.texts.push_back(heading_of(column, times, bytes));
    for (const auto& row : view.rows) {
      const bool is_number = column.is_bytes() && is_there(row[c]);
      out.texts.push_back(is_number ? bytes_cell(row[c], bytes)
                                    : cell_text(row[c], column.form, times, decimals));
    }
    for (const std::string& text : out.texts) {
      out.width_with_folders = std::max(out.width_with_folders, display_width(text));
      const bool is_place = column.form == Form::kPlace;
      out.width = std::max(out.width, display_width(is_place ? without_folders(text) : text));
    }
  }
  return shown;
}

/// Of lines with these columns, if no column to the left takes more than `most_text`.
std::size_t width_of(const std::vector<ShownColumn>& columns, const Layout& layout,
                     std::size_t most_text) {
  std::size_t width = columns.empty() ? 0 : kBetweenColumns * (columns.size() - 1);
  for (const ShownColumn& shown : columns) {
    const std::size_t of_text = layout.has_folders ? shown.width_with_folders : shown.width;
    width += shown.column->is_drawn()  ? layout.bar_width
             : shown.column->is_left() ? std::min(of_text, most_text)
                                       : of_text;
  }
  return width;
}

TextTable table_of(const ViewTable& view, const std::vector<ShownColumn>& columns,
                   const Layout& layout, const TextStyle& style) {
  std::vector<TextTable::Align> aligns;
  for (const ShownColumn& shown : columns)
    aligns.push_back(shown.column->is_left() ? TextTable::Align::kLeft : TextTable::Align::kRight);
  TextTable table(std::move(aligns));
  for (std::size_t r = 0; r <= view.rows.size(); ++r) {
    std::vector<std::string> cells;
    for (const ShownColumn& shown : columns) {
      const Form form = shown.column->form;
      if (shown.column->is_drawn()) {
        cells.push_back(
            r == 0 ? "" : drawn(view.rows[r - 1][shown.number], form, layout.bar_width, style));
      } else {
        const bool is_short = form == Form::kPlace && !layout.has_folders;
        cells.push_back(is_short ? without_folders(shown.texts[r]) : shown.texts[r]);
      }
    }
    table.add(std::move(cells));
  }
  return table;
}

/// Rows as paragraphs: the name, and below it the other cells; times beside what is before them.
std::string paragraphs(const ViewTable& view, const TextStyle& style) {
  const TimeColumn times = times_of(view);
  std::string out;
  for (const auto& row : view.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const ViewColumn& column = view.columns[c];
      std::string text = cell_text(row[c], column.form, times);
      if (text.empty() || column.is_time()) continue;
      if (c + 1 < row.size() && view.columns[c + 1].is_time() && is_there(row[c + 1]))
        text += fmt::format(" ({} {})", cell_text(row[c + 1], view.columns[c + 1].form, times),
                            times.unit());
      out += c == 0 ? heading(filled(text, 0, style.columns), style)
                    : "  " + filled(column.name + ": " + text, 4, style.columns, 2);
    }
  }
  return out;
}

/// Rows that no line has room for: the first cell of each, and below it the others with their
/// headings.
std::string stacked(const std::vector<ShownColumn>& columns, const TextStyle& style) {
  std::string out;
  const std::size_t rows = columns.front().texts.size();
  for (std::size_t r = 1; r < rows; ++r) {
    const auto cell = [&](const ShownColumn& shown) {
      return shown.texts[0] + ": " + shown.texts[r];
    };
    const ShownColumn& first = columns.front();
    out += heading(filled(first.column->is_left() ? first.texts[r] : cell(first), 0, style.columns),
                   style);
    std::vector<std::string> cells;
    for (const ShownColumn& shown : columns)
      if (&shown != &first && !shown.texts.empty() && !shown.texts[r].empty())
        cells.push_back(cell(shown));
    out += wrapped(cells, 2, style.columns);
  }
  return out;
}

/// Takes columns out until lines fit, or no more can go; says how the others are shown.
Layout fit(std::vector<ShownColumn>& columns, std::size_t width) {
  Layout layout;
  // Columns go before names are cut to less than this.
  const std::size_t text = width * 2 / 5;
  while (width_of(columns, layout, text) > width) {
    const auto last = std::ranges::max_element(
        columns, {}, [](const ShownColumn& shown) { return shown.column->extra; });
    if (last == columns.end() || last->column->extra == 0) break;
    columns.erase(last);
  }
  const auto fits = [&] { return width_of(columns, layout, SIZE_MAX) <= width; };
  layout.has_folders = true;
  layout.has_folders = fits();
  const bool has_bar = std::ranges::any_of(
      columns, [](const ShownColumn& shown) { return shown.column->is_drawn(); });
  while (has_bar && layout.bar_width < kMostBar && fits()) ++layout.bar_width;
  if (!fits() && layout.bar_width > kLeastBar) --layout.bar_width;
  return layout;
}

/// What the columns that are shown mean; those of one meaning that stand together, together.
std::string meanings_of(const std::vector<ShownColumn>& columns) {
  std::string text, names;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ViewColumn& column = *columns[c].column;
    if (column.meaning.empty()) continue;
    names += (names.empty() ? "" : ", ") + column.name;
    if (c + 1 < columns.size() && columns[c + 1].column->meaning == column.meaning) continue;
    names[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(names[0])));
    text += fmt::format("{}{}: {}.", text.empty() ? "" : " ", names, column.meaning);
    names.clear();
  }
  return text;
}

/// How many phases bars of these columns have.
std::size_t phases_of(const ViewTable& view, const std::vector<ShownColumn>& columns) {
  std::size_t phases = 0;
  for (const ShownColumn& shown : columns)
    for (const auto& row : view.rows)
      if (const auto* shares = std::get_if<std::vector<double>>(&row[shown.number]))
        phases = std::max(phases, shares->size());
  return phases;
}

std::string table_text(const ViewTable& view, const TextStyle& style) {
  std::string notes;
  for (const std::string& note : view.notes) notes += filled(one_line(note), 0, style.columns);
  const std::string title =
      view.title.empty() ? "" : heading(filled(one_line(view.title), 0, style.columns), style);
  if (view.is_prose) return title + paragraphs(view, style) + notes;
  if (view.rows.empty()) return title + notes;
  std::vector<ShownColumn> columns = shown_columns(view);
  const Layout layout = fit(columns, style.columns);
  TextTable table = table_of(view, columns, layout, style);
  table.fit(style.columns);
  const bool fits = table.width() <= style.columns;
  std::string out = title + (fits ? table.text() : stacked(columns, style));
  if (const std::size_t phases = phases_of(view, columns); fits && phases != 0)
    out += phase_legend(phases, style) + "\n";
  if (const std::string meanings = meanings_of(columns); !meanings.empty())
    out += filled(meanings, 0, style.columns);
  return out + notes;
}

}  // namespace

std::string view_text(std::span<const ViewTable> tables, const TextStyle& style) {
  std::string out;
  for (const ViewTable& table : tables) out += (out.empty() ? "" : "\n") + table_text(table, style);
  return out;
}

}  // namespace superstep
