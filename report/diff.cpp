#include "report/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/counterparts.h"
#include "report/numbers.h"
#include "report/report.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

std::int64_t moved(Cycles before, Cycles after) {
  return static_cast<std::int64_t>(after.value()) - static_cast<std::int64_t>(before.value());
}

double nanoseconds_of(const TraceSummary& trace, Cycles cycles) {
  return nanoseconds(static_cast<double>(cycles.value()), trace.clock_hz);
}

/// How much longer or shorter it takes, each run by its own clock.
ViewCell moved_time(const TraceSummary& before, Cycles was, const TraceSummary& after, Cycles is) {
  return cell_if(before.clock_hz != 0 && after.clock_hz != 0,
                 nanoseconds_of(after, is) - nanoseconds_of(before, was));
}

/// What moved, by what it was.
ViewCell relative(Cycles before, Cycles after) {
  return cell_if(before.value() != 0,
                 static_cast<double>(moved(before, after)) / static_cast<double>(before.value()));
}

ViewTable parts_of(const TraceSummary& before, const TraceSummary& after) {
  ViewTable parts{.name = "parts",
                  .title = before.module + " on " + before.machine_name + " and " + after.module +
                           " on " + after.machine_name,
                  .columns = {{"part"},
                              {"before", Form::kCycles},
                              {"after", Form::kCycles},
                              {"moved", Form::kMoved},
                              {"moved", Form::kMovedTime, "", 1},
                              {"%", Form::kMovedShare, "1"}}};
  const auto device = [](const TraceSummary& t) {
    return t.totals.compute + t.totals.exchange + t.totals.sync;
  };
  const std::pair<const char*, std::pair<Cycles, Cycles>> phases[] = {
      {"device", {device(before), device(after)}},
      {"  compute", {before.totals.compute, after.totals.compute}},
      {"  exchange", {before.totals.exchange, after.totals.exchange}},
      {"  sync", {before.totals.sync, after.totals.sync}},
      {"host", {before.totals.host, after.totals.host}},
      {"total", {before.totals.cycles, after.totals.cycles}}};
  for (const auto& [name, cycles] : phases)
    parts.add(std::string(name), cycles.first.value(), cycles.second.value(),
              moved(cycles.first, cycles.second),
              moved_time(before, cycles.first, after, cycles.second),
              relative(cycles.first, cycles.second));
  if (before.calls != after.calls)
    parts.notes.push_back(fmt::format("Before: {} calls, after: {}.", before.calls, after.calls));
  if (before.clock_hz != after.clock_hz && before.clock_hz != 0 && after.clock_hz != 0)
    parts.notes.push_back(fmt::format("Before: a clock of {:.3f} GHz, after: {:.3f} GHz.",
                                      static_cast<double>(before.clock_hz) / 1e9,
                                      static_cast<double>(after.clock_hz) / 1e9));
  return parts;
}

/// A group in both runs, or in one of them.
struct Pair {
  OperationTotals before = {}, after = {};
  bool was = false, is = false;

  [[nodiscard]] const std::string& name() const { return is ? after.name : before.name; }
  [[nodiscard]] bool is_renamed() const { return was && is && before.name != after.name; }
  [[nodiscard]] bool is_same() const {
    return before.compute == after.compute && before.exchange == after.exchange &&
           before.sync == after.sync;
  }
};

std::vector<Pair> pairs_of(const TraceSummary& before, const TraceSummary& after,
                           const NamesBefore& before_of, std::string_view by) {
  std::vector<Pair> pairs;
  std::map<std::string, OperationTotals> left;
  for (OperationTotals& group : operations_of(before, by)) left.emplace(group.name, group);
  for (OperationTotals& group : operations_of(after, by)) {
    Pair pair{.is = true};
    const auto counterpart = before_of.find(group.name);
    if (counterpart != before_of.end()) {
      if (auto was = left.extract(counterpart->second)) {
        pair.was = true;
        pair.before = std::move(was.mapped());
      }
    }
    pair.after = std::move(group);
    pairs.push_back(std::move(pair));
  }
  for (auto& [name, group] : left) pairs.push_back({.before = std::move(group), .was = true});
  return pairs;
}

}  // namespace

std::vector<ViewTable> diff_tables(const TraceSummary& before, const TraceSummary& after,
                                   const ViewOptions& options) {
  const std::string& by = options.group_by;
  const Counterparts known = counterparts(before, after);
  std::vector<Pair> pairs = pairs_of(before, after, known.groups.at(by), by);
  std::erase_if(pairs, [&](const Pair& pair) {
    return pair.is_same() || (!(pair.is && matches(options, pair.after.name)) &&
                              !(pair.was && matches(options, pair.before.name)));
  });
  std::ranges::stable_sort(pairs, std::ranges::greater{}, [](const Pair& pair) {
    return std::abs(moved(pair.before.device(), pair.after.device()));
  });
  ViewTable table{.name = "operations",
                  .title = pairs.empty() ? "No operation moved" : "What moved, most first",
                  .columns = {{by},
                              {"was", Form::kText, "", 2, "its name before"},
                              {"before", Form::kCycles},
                              {"after", Form::kCycles},
                              {"moved", Form::kMoved},
                              {"moved", Form::kMovedTime, "", 3},
                              {"%", Form::kMovedShare, "1"},
                              {"compute", Form::kMoved, "", 1},
                              {"exchange", Form::kMoved, "", 1},
                              {"sync", Form::kMoved, "", 1}}};
  const auto add_row = [&](const Pair& pair, std::string name) {
    const OperationTotals &was = pair.before, &is = pair.after;
    table.add(std::move(name), pair.is_renamed() ? was.name : std::string(),
              cell_if(pair.was, was.device().value()), cell_if(pair.is, is.device().value()),
              moved(was.device(), is.device()),
              moved_time(before, was.device(), after, is.device()),
              relative(was.device(), is.device()), moved(was.compute, is.compute),
              moved(was.exchange, is.exchange), moved(was.sync, is.sync));
  };
  const std::size_t top = options.top == 0 ? pairs.size() : options.top;
  const std::size_t shown = std::min(top, pairs.size());
  for (std::size_t i = 0; i < shown; ++i) add_row(pairs[i], pairs[i].name());
  if (shown < pairs.size()) {
    Pair rest;
    for (std::size_t i = shown; i < pairs.size(); ++i) {
      add(rest.before, pairs[i].before);
      add(rest.after, pairs[i].after);
      rest.was = rest.was || pairs[i].was;
      rest.is = rest.is || pairs[i].is;
    }
    add_row(rest, fmt::format("{} more", pairs.size() - shown));
  }
  if (!known.is_same_program)
    table.notes.push_back(fmt::format(
        "The programs differ: {} of {} operations before and {} after are paired, by their order, "
        "opcode, name without number, type and Python line. The others are new, or gone.",
        known.operations.size(), known.operations_before, known.operations_after));
  return {parts_of(before, after), std::move(table)};
}

}  // namespace superstep
