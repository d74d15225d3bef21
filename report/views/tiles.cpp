#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

/// How often others waited for a tile, and for how many cycles it computed then.
struct Critical {
  std::uint64_t supersteps = 0, cycles = 0;
};

/// Of the columns of a profile, what each tile with a program added up to.
using Sums = std::map<std::string, std::vector<std::uint64_t>>;

/// Adds up columns of profiles, each row as often as supersteps have it.
void add_profiles(const TraceFile& file, const std::vector<std::uint64_t>& times,
                  std::string_view group, std::initializer_list<const char*> columns, Sums& sums) {
  constexpr std::uint64_t kRows = 128;
  for (const char* column : columns) {
    std::vector<std::uint64_t>& of_tile = sums[column];
    for (std::uint64_t first = 0; first < times.size(); first += kRows) {
      const std::uint64_t count = std::min<std::uint64_t>(kRows, times.size() - first);
      const auto values =
          file.read_wide<std::uint64_t>(std::string(group) + "/" + column, first, count);
      const std::size_t width = values.size() / count;
      of_tile.resize(width);
      for (std::size_t i = 0; i < values.size(); ++i)
        of_tile[i % width] += values[i] * times[first + i / width];
    }
  }
}

Sums sums_of_tiles(const TraceFile& file) {
  Sums sums;
  if (!file.has(kComputePhases)) return sums;
  std::vector<std::uint64_t> compute(file.rows(kComputeProfiles)),
      exchange(file.rows(kExchangeProfiles));
  for (const ProfileNumbers& row : file.read(kProfileNumbers)) {
    if (row.compute < compute.size()) ++compute[row.compute];
    if (row.exchange < exchange.size()) ++exchange[row.exchange];
  }
  add_profiles(file, compute, kComputePhases.group, {"cycles", "wait_cycles", "instructions"},
               sums);
  sums["compute"] = std::move(sums["cycles"]);
  sums.erase("cycles");
  add_profiles(file, exchange, kExchangePhases.group, {"cycles", "sent_bytes", "received_bytes"},
               sums);
  sums["exchange"] = std::move(sums["cycles"]);
  sums.erase("cycles");
  return sums;
}

ViewTable spread(const Sums& sums) {
  ViewTable table{.name = "spread",
                  .title = "How the whole run is spread over tiles with a program",
                  .columns = {{"of a tile"},
                              {"least", Form::kCount, "1", 2},
                              {"median", Form::kCount, "1", 1},
                              {"mean", Form::kReal, "1"},
                              {"95 %", Form::kCount, "1", 3},
                              {"most", Form::kCount, "1"},
                              {"balance", Form::kShare, "1", 0, "mean over most"},
                              {"bar", Form::kBar, "", 4}}};
  constexpr std::pair<const char*, const char*> kRows[] = {
      {"compute", "compute cycles"},   {"wait_cycles", "wait cycles"},
      {"exchange", "exchange cycles"}, {"instructions", "instructions"},
      {"sent_bytes", "bytes sent"},    {"received_bytes", "bytes received"}};
  for (const auto& [key, name] : kRows) {
    const auto found = sums.find(key);
    if (found == sums.end() || found->second.empty()) continue;
    std::vector<std::uint64_t> values = found->second;
    std::ranges::sort(values);
    const auto at = [&](double share) {
      return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    const std::uint64_t sum = std::accumulate(values.begin(), values.end(), std::uint64_t{0});
    const double mean = static_cast<double>(sum) / static_cast<double>(values.size());
    const double balance = values.back() == 0 ? 1 : mean / static_cast<double>(values.back());
    table.add(std::string(name), values.front(), at(0.5), mean, at(0.95), values.back(), balance,
              balance);
  }
  table.compared = {{"of a tile"}, {"most", "median", "least"}};
  return table;
}

}  // namespace

std::vector<ViewTable> tiles_view(const ViewInput& input) {
  std::map<std::uint32_t, Critical> critical;
  std::uint64_t all = 0;
  input.file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (row.compute.value() == 0) return;
    Critical& tile = critical[index(row.critical)];
    ++tile.supersteps;
    tile.cycles += row.compute.value();
    all += row.compute.value();
  });
  const Sums sums = sums_of_tiles(input.file);
  const std::vector<TileEntry> used = input.file.read(kUsedTiles);
  std::vector<std::pair<std::uint32_t, Critical>> order(critical.begin(), critical.end());
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto& tile) { return tile.second.cycles; });
  ViewTable table{.name = "critical",
                  .title = "Tiles that others waited for",
                  .columns = {{"tile", Form::kCount, "1"},
                              {"supersteps", Form::kCount, "1"},
                              {"compute then", Form::kCycles},
                              {"time", Form::kTime, "", 1},
                              {"% compute", Form::kShare, "1"},
                              {"compute in all", Form::kCycles, "", 2},
                              {"waits", Form::kCycles, "", 2},
                              {"bar", Form::kBar, "", 4}}};
  for (const auto& [tile, of_tile] : order) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    const double share =
        all == 0 ? 0 : static_cast<double>(of_tile.cycles) / static_cast<double>(all);
    const auto at = static_cast<std::size_t>(
        std::ranges::lower_bound(used, TileId{tile}, {}, &TileEntry::tile) - used.begin());
    const auto of_sums = [&](const char* key) {
      const auto found = sums.find(key);
      const bool is_there = found != sums.end() && at < found->second.size();
      return is_there ? ViewCell(found->second[at]) : ViewCell();
    };
    table.add(std::uint64_t{tile}, of_tile.supersteps, of_tile.cycles,
              time_cell(Cycles(of_tile.cycles), input.trace.clock_hz), share, of_sums("compute"),
              of_sums("wait_cycles"), share);
  }
  note_more(table, order.size() - table.rows.size());
  // Of a tile without a row the others' sums are not known here.
  table.compared = {{"tile"}, {"compute then"}, true};
  if (sums.empty()) {
    table.notes.emplace_back(
        "How work is spread over all tiles takes a trace of level tile "
        "(`--trace tile`).");
    return {std::move(table)};
  }
  return {spread(sums), std::move(table)};
}

}  // namespace superstep
