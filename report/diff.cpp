#include "report/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/numbers.h"
#include "report/report.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

std::int64_t difference(Cycles before, Cycles after) {
  return static_cast<std::int64_t>(after.value()) - static_cast<std::int64_t>(before.value());
}

/// `+1,234`, `-5`, or nothing where nothing moved.
std::string moved(std::int64_t by) {
  if (by == 0) return {};
  return (by < 0 ? "-" : "+") + grouped(static_cast<std::uint64_t>(std::abs(by)));
}

}  // namespace

std::vector<ViewTable> diff_tables(const TraceSummary& before, const TraceSummary& after,
                                   const ViewOptions& options) {
  const auto relative = [](Cycles a, Cycles b) {
    return cell_if(a.value() != 0,
                   static_cast<double>(difference(a, b)) / static_cast<double>(a.value()));
  };
  ViewTable parts{.name = "parts",
                  .title = before.module + " on " + before.machine_name + " and " + after.module +
                           " on " + after.machine_name,
                  .columns = {{"part"},
                              {"before", Form::kCycles},
                              {"after", Form::kCycles},
                              {"moved"},
                              {"%", Form::kShare, "1"}}};
  const auto device = [](const TraceSummary& t) {
    return t.totals.compute + t.totals.exchange + t.totals.sync;
  };
  const std::pair<const char*, std::pair<Cycles, Cycles>> kParts[] = {
      {"device", {device(before), device(after)}},
      {"  compute", {before.totals.compute, after.totals.compute}},
      {"  exchange", {before.totals.exchange, after.totals.exchange}},
      {"  sync", {before.totals.sync, after.totals.sync}},
      {"host", {before.totals.host, after.totals.host}},
      {"total", {before.totals.cycles, after.totals.cycles}}};
  for (const auto& [name, cycles] : kParts)
    parts.add(std::string(name), cycles.first.value(), cycles.second.value(),
              moved(difference(cycles.first, cycles.second)),
              relative(cycles.first, cycles.second));
  if (before.calls != after.calls)
    parts.notes.push_back(fmt::format("Before: {} calls, after: {}.", before.calls, after.calls));

  struct Pair {
    OperationTotals before, after;
    bool was = false, is = false;
  };
  std::map<std::string, Pair> pairs;
  const std::string_view by = options.group_by;
  for (OperationTotals& operation : operations_of(before, by))
    pairs[operation.name].was = true, pairs[operation.name].before = std::move(operation);
  for (OperationTotals& operation : operations_of(after, by))
    pairs[operation.name].is = true, pairs[operation.name].after = std::move(operation);
  std::vector<std::pair<std::string, Pair>> order(pairs.begin(), pairs.end());
  std::erase_if(order, [&](const auto& entry) {
    const Pair& pair = entry.second;
    const bool is_same = pair.before.compute == pair.after.compute &&
                         pair.before.exchange == pair.after.exchange &&
                         pair.before.sync == pair.after.sync && pair.was == pair.is;
    return is_same || !matches(options, entry.first);
  });
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& entry) {
    return std::abs(difference(entry.second.before.device(), entry.second.after.device()));
  });
  ViewTable operations{.name = "operations",
                       .title = order.empty() ? "No operation moved" : "What moved, most first",
                       .columns = {{std::string(by)},
                                   {"before", Form::kCycles},
                                   {"after", Form::kCycles},
                                   {"moved"},
                                   {"%", Form::kShare, "1"},
                                   {"compute", Form::kText, "", 1},
                                   {"exchange", Form::kText, "", 1},
                                   {"sync", Form::kText, "", 1}}};
  for (const auto& [name, pair] : order) {
    if (options.top != 0 && operations.rows.size() == options.top) {
      operations.notes.push_back(fmt::format("{} more (`--top 0`).", order.size() - options.top));
      break;
    }
    operations.add(name, cell_if(pair.was, pair.before.device().value()),
                   cell_if(pair.is, pair.after.device().value()),
                   moved(difference(pair.before.device(), pair.after.device())),
                   relative(pair.before.device(), pair.after.device()),
                   moved(difference(pair.before.compute, pair.after.compute)),
                   moved(difference(pair.before.exchange, pair.after.exchange)),
                   moved(difference(pair.before.sync, pair.after.sync)));
  }
  return {std::move(parts), std::move(operations)};
}

}  // namespace superstep
