#include "report/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "report/numbers.h"
#include "report/report.h"
#include "report/text_table.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

std::int64_t moved(std::uint64_t before, std::uint64_t after) {
  return static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
}

double nanoseconds_of(const TraceSummary& trace, Cycles cycles) {
  return nanoseconds(static_cast<double>(cycles.value()), trace.clock_hz);
}

/// How much longer or shorter it takes, each run by its own clock.
ViewCell moved_time(const TraceSummary& before, Cycles was, const TraceSummary& after, Cycles is) {
  if (before.clock_hz == 0 || after.clock_hz == 0) return {};
  const double by = nanoseconds_of(after, is) - nanoseconds_of(before, was);
  return cell_if(by != 0, by);
}

/// What moved, by what it was.
ViewCell relative(std::uint64_t before, std::uint64_t after) {
  return cell_if(before != 0,
                 static_cast<double>(moved(before, after)) / static_cast<double>(before));
}

/// A run, as `run.h5 (jit_train on bow)`.
std::string name_of(const ViewInput& run) {
  constexpr std::size_t kMost = 80;
  return fmt::format("{} ({} on {})", run.file.path().string(),
                     without_middle(one_line(run.trace.module), kMost), run.trace.machine_name);
}

ViewTable parts_of(const ViewInput& was, const ViewInput& is) {
  const TraceSummary &before = was.trace, &after = is.trace;
  ViewTable parts{.name = "parts",
                  .title = "From " + name_of(was) + " to " + name_of(is),
                  .columns = {{"part"},
                              {"before", Form::kCycles},
                              {"after", Form::kCycles},
                              {"moved", Form::kMoved},
                              {"moved", Form::kMovedTime, "", 1},
                              {"%", Form::kMovedShare, "1"}}};
  const std::pair<const char*, std::pair<Cycles, Cycles>> phases[] = {
      {"device", {before.totals.device(), after.totals.device()}},
      {"  compute", {before.totals.compute, after.totals.compute}},
      {"  exchange", {before.totals.exchange, after.totals.exchange}},
      {"  sync", {before.totals.sync, after.totals.sync}},
      {"host", {before.totals.host, after.totals.host}},
      {"total", {before.totals.cycles, after.totals.cycles}}};
  for (const auto& [name, cycles] : phases) {
    const std::uint64_t from = cycles.first.value(), to = cycles.second.value();
    parts.add(std::string(name), from, to, moved(from, to),
              moved_time(before, cycles.first, after, cycles.second), relative(from, to));
  }
  if (before.calls != after.calls)
    parts.notes.push_back(
        fmt::format("Before: {}, after: {}.", counted(before.calls, "call"), grouped(after.calls)));
  if (before.clock_hz != after.clock_hz && before.clock_hz != 0 && after.clock_hz != 0)
    parts.notes.push_back(fmt::format("Before: a clock of {:.3f} GHz, after: {:.3f} GHz.",
                                      static_cast<double>(before.clock_hz) / 1e9,
                                      static_cast<double>(after.clock_hz) / 1e9));
  return parts;
}

/// Operations, or other groups, with those that take nothing on the device.
ViewTable groups_of(const TraceSummary& trace, const std::string& by) {
  ViewTable table{.name = "operations",
                  .columns = {{by},
                              {"cycles", Form::kCycles},
                              {"compute", Form::kCycles},
                              {"exchange", Form::kCycles},
                              {"sync", Form::kCycles}},
                  .compared = {{by}, {"cycles", "compute", "exchange", "sync"}, true}};
  for (const OperationTotals& group : operations_of(trace, by))
    table.add(group.name, group.device().value(), group.compute.value(), group.exchange.value(),
              group.sync.value());
  return table;
}

/// By a name in the later run that in the earlier one; nothing of what is new.
using NameBefore = std::function<std::optional<std::string>(const std::string&)>;

/// Names of groups.
NameBefore names_of_groups(const NamesBefore& known) {
  return [&known](const std::string& name) -> std::optional<std::string> {
    const auto found = known.find(name);
    if (found == known.end()) return std::nullopt;
    return found->second;
  };
}

/// Names that begin with that of an operation, as `put.65.fill`, and others, which are the same in
/// all programs, as `arg0` and `codelets`.
NameBefore names_of_parts(const TraceSummary& after, const Counterparts& known) {
  std::set<std::string, std::less<>> operations;
  for (const StepTotals& step : after.steps) {
    operations.insert(step.operation_name);
    for (const FusedOperation& operation : step.info.fused) operations.insert(operation.name);
  }
  return [operations = std::move(operations),
          &known](const std::string& name) -> std::optional<std::string> {
    for (std::size_t end = name.size(); end != std::string::npos && end != 0;
         end = name.rfind('.', end - 1)) {
      const std::string operation = name.substr(0, end);
      const auto found = known.operations.find(operation);
      if (found != known.operations.end()) return found->second + name.substr(end);
      if (operations.contains(operation)) return std::nullopt;
    }
    return name;
  };
}

/// The place of a column by its name.
std::size_t column_of(const ViewTable& table, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, name, &ViewColumn::name) -
                                  table.columns.begin());
}

/// A row of a table that can be compared: its key without the name, the name, its numbers.
struct Row {
  std::string key, name;
  std::vector<std::uint64_t> numbers;
};

std::vector<Row> rows_of(const ViewTable& table) {
  const auto text = [](const ViewCell& cell) {
    if (const auto* whole = std::get_if<std::uint64_t>(&cell)) return std::to_string(*whole);
    const auto* words = std::get_if<std::string>(&cell);
    return words ? words->substr(std::min(words->find_first_not_of(' '), words->size())) : "";
  };
  std::vector<Row> rows;
  for (const auto& cells : table.rows) {
    Row& row = rows.emplace_back();
    for (const std::string& column : table.compared.key) {
      row.key += row.name.empty() ? "" : row.name + ' ';
      row.name = text(cells[column_of(table, column)]);
    }
    for (const std::string& column : table.compared.columns) {
      const auto* whole = std::get_if<std::uint64_t>(&cells[column_of(table, column)]);
      row.numbers.push_back(whole ? *whole : 0);
    }
  }
  return rows;
}

/// A row in both runs, or in one of them.
struct Pair {
  Row before = {}, after = {};
  bool was = false, is = false;

  [[nodiscard]] const Row& row() const { return is ? after : before; }
  [[nodiscard]] std::uint64_t from(std::size_t column) const {
    return was ? before.numbers[column] : 0;
  }
  [[nodiscard]] std::uint64_t to(std::size_t column) const {
    return is ? after.numbers[column] : 0;
  }
  [[nodiscard]] std::int64_t moved_by(std::size_t column) const {
    return moved(from(column), to(column));
  }
};

/// `dot.3` of the exchange `dot.3 +2`, which serves two more operations.
std::string without_others(const std::string& name) { return name.substr(0, name.find(" +")); }

/// Rows of one key and name: the first with the first.
std::vector<Pair> pairs_of(const ViewTable& before, const ViewTable& after,
                           const NameBefore& name_before) {
  std::vector<Pair> pairs;
  std::map<std::pair<std::string, std::string>, std::deque<Row>> left;
  for (Row& row : rows_of(before))
    left[{row.key, without_others(row.name)}].push_back(std::move(row));
  for (Row& row : rows_of(after)) {
    Pair pair{.is = true};
    const std::optional<std::string> name = name_before(without_others(row.name));
    const auto found = name ? left.find({row.key, *name}) : left.end();
    if (found != left.end() && !found->second.empty()) {
      pair.was = true;
      pair.before = std::move(found->second.front());
      found->second.pop_front();
    }
    pair.after = std::move(row);
    pairs.push_back(std::move(pair));
  }
  for (auto& [key, rows] : left)
    for (Row& row : rows) pairs.push_back({.before = std::move(row), .was = true});
  return pairs;
}

/// Columns of the difference of two tables. Of those that say how much a number moved, those that
/// moved least in all go first where there is no room.
std::vector<ViewColumn> moved_columns(const ViewTable& table, const std::vector<Pair>& pairs) {
  const auto form_of = [&](const std::string& column) -> const ViewColumn& {
    return table.columns[column_of(table, column)];
  };
  const std::vector<std::string>& key = table.compared.key;
  const std::vector<std::string>& compared = table.compared.columns;
  const ViewColumn& main = form_of(compared[0]);
  const auto moved_form = [](const ViewColumn& column) {
    return column.is_bytes() ? Form::kMovedBytes : Form::kMoved;
  };
  std::vector<ViewColumn> columns;
  for (const std::string& column : key) columns.push_back({column});
  const std::vector<ViewColumn> numbers = {
      {"was", Form::kText, "", 0, "its name before"},
      {"before", main.form, main.unit},
      {"after", main.form, main.unit, 2},
      {"moved", moved_form(main), main.unit},
      {"moved", Form::kMovedTime, "", 5},
      {"%", Form::kMovedShare, "1", 3},
  };
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  std::vector<std::pair<std::uint64_t, std::size_t>> explained;
  for (std::size_t c = 1; c < compared.size(); ++c) {
    std::uint64_t sum = 0;
    for (const Pair& pair : pairs) sum += static_cast<std::uint64_t>(std::abs(pair.moved_by(c)));
    explained.emplace_back(sum, columns.size());
    const ViewColumn& column = form_of(compared[c]);
    columns.push_back({compared[c], moved_form(column), column.unit});
  }
  // The one or two that explain most stay as long as the names.
  std::ranges::sort(explained);
  for (std::size_t i = 0; i + 1 < explained.size(); ++i)
    columns[explained[i].second].extra = i == 0 ? 4 : 1;
  return columns;
}

/// What moved from one table to another, most first.
ViewTable difference(const ViewTable& before, const ViewTable& after, const NameBefore& name_before,
                     const ViewInput& was, const ViewInput& is) {
  // Lambdas take no structured bindings in Clang 14.
  const std::vector<std::string>& key = after.compared.key;
  const std::vector<std::string>& compared = after.compared.columns;
  const ViewOptions& options = is.options;
  std::vector<Pair> pairs = pairs_of(before, after, name_before);
  std::erase_if(pairs, [&](const Pair& pair) {
    return !(pair.is && matches(options, pair.after.name)) &&
           !(pair.was && matches(options, pair.before.name));
  });
  const bool has_names = !pairs.empty();
  std::erase_if(pairs, [&](const Pair& pair) {
    bool has_moved =
        pair.was != pair.is && pair.row().numbers != std::vector<std::uint64_t>(compared.size());
    for (std::size_t c = 0; c < compared.size(); ++c) has_moved |= pair.moved_by(c) != 0;
    return !has_moved;
  });
  std::ranges::stable_sort(pairs, std::ranges::greater{},
                           [](const Pair& pair) { return std::abs(pair.moved_by(0)); });
  std::string title = after.name;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  ViewTable table{.name = after.name,
                  .title = title + (!has_names      ? ""
                                    : pairs.empty() ? ": nothing moved"
                                                    : ": what moved, by " + compared[0]),
                  .columns = moved_columns(after, pairs)};
  const bool is_time = after.columns[column_of(after, compared[0])].form == Form::kCycles;
  const auto add_row = [&](const Pair& pair, const std::string& name) {
    std::vector<ViewCell>& cells = table.rows.emplace_back();
    if (key.size() == 2) cells.emplace_back(pair.row().key);
    const bool is_renamed = pair.was && pair.is && pair.before.name != pair.after.name;
    cells.emplace_back(name);
    cells.emplace_back(is_renamed ? pair.before.name : std::string());
    cells.push_back(cell_if(pair.was, pair.from(0)));
    cells.push_back(cell_if(pair.is, pair.to(0)));
    cells.emplace_back(pair.moved_by(0));
    cells.push_back(is_time
                        ? moved_time(was.trace, Cycles(pair.from(0)), is.trace, Cycles(pair.to(0)))
                        : ViewCell());
    cells.push_back(relative(pair.from(0), pair.to(0)));
    for (std::size_t c = 1; c < compared.size(); ++c) cells.emplace_back(pair.moved_by(c));
  };
  const std::size_t top = options.top == 0 ? pairs.size() : options.top;
  const std::size_t shown = std::min(top, pairs.size());
  for (std::size_t i = 0; i < shown; ++i) add_row(pairs[i], pairs[i].row().name);
  if (shown < pairs.size() && after.compared.adds_up) {
    Pair rest;
    rest.before.numbers.resize(compared.size());
    rest.after.numbers.resize(compared.size());
    for (std::size_t i = shown; i < pairs.size(); ++i) {
      for (std::size_t c = 0; c < compared.size(); ++c) {
        rest.before.numbers[c] += pairs[i].from(c);
        rest.after.numbers[c] += pairs[i].to(c);
      }
      rest.was = rest.was || pairs[i].was;
      rest.is = rest.is || pairs[i].is;
    }
    add_row(rest, fmt::format("{} more", pairs.size() - shown));
  } else {
    note_more(table, pairs.size() - shown);
  }
  if (!has_names) note_no_match(table, options);
  return table;
}

/// The tables of a view that can be compared, whole.
std::vector<ViewTable> whole_tables(const ReportView& view, const ViewInput& run) {
  const ViewOptions all{.top = 0};
  std::vector<ViewTable> tables = view.tables({run.file, run.trace, all});
  std::erase_if(tables, [](const ViewTable& table) { return table.compared.columns.empty(); });
  return tables;
}

}  // namespace

std::vector<ViewTable> moved_tables(const ViewInput& before, const ViewInput& after,
                                    const ReportView& view, const Counterparts& known,
                                    const std::array<std::string, 2>& names) {
  const std::array<const ViewInput*, 2> runs = {&before, &after};
  std::vector<ViewTable> tables;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string lacks = what_lacks(view, *runs[i]);
    if (!lacks.empty())
      tables.push_back({.name = std::string(view.name), .notes = {names[i] + ": " + lacks}});
  }
  if (!tables.empty()) return tables;
  if (view.name == "ops") {
    const std::string& by = after.options.group_by;
    return {difference(groups_of(before.trace, by), groups_of(after.trace, by),
                       names_of_groups(known.groups.at(by)), before, after)};
  }
  const NameBefore name_before = names_of_parts(after.trace, known);
  const std::vector<ViewTable> was = whole_tables(view, before), is = whole_tables(view, after);
  for (const ViewTable& table : is) {
    const auto same = std::ranges::find(was, table.name, &ViewTable::name);
    if (same == was.end()) continue;
    tables.push_back(difference(*same, table, name_before, before, after));
    const std::array<const ViewTable*, 2> whole = {&*same, &table};
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (!whole[i]->compared.incomplete.empty())
        tables.back().notes.push_back(names[i] + ": " + whole[i]->compared.incomplete);
  }
  if (was.size() != is.size()) {
    const std::size_t more = was.size() > is.size() ? 0 : 1;
    tables.back().notes.push_back(
        fmt::format("{} has more tables of --view {}: it is of level {}, the other of level {}.",
                    names[more], view.name, runs[more]->trace.level, runs[1 - more]->trace.level));
  }
  return tables;
}

std::string difference_of_programs(const Counterparts& known) {
  if (known.is_same_program) return {};
  return fmt::format(
      "The programs differ: {} of {} operations before and {} after are paired, by their order, "
      "opcode, name without number, type and Python line. The others are new, or gone.",
      known.operations.size(), known.operations_before, known.operations_after);
}

std::vector<ViewTable> diff_tables(const ViewInput& before, const ViewInput& after,
                                   const ReportView& view) {
  const Counterparts known = counterparts(before.trace, after.trace);
  std::vector<ViewTable> tables = {parts_of(before, after)};
  const std::array names = {before.file.path().string(), after.file.path().string()};
  std::ranges::move(moved_tables(before, after, view, known, names), std::back_inserter(tables));
  std::string differ = difference_of_programs(known);
  if (!differ.empty()) tables.back().notes.push_back(std::move(differ));
  return tables;
}

}  // namespace superstep
