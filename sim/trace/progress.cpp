#include "sim/trace/progress.h"

#include <algorithm>
#include <stdexcept>

#include "sim/trace/schema.h"
#include "sim/trace/superstep_rows.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// Of `rows` rows that ascend by the superstep in a column, those of the first `supersteps`.
std::uint64_t rows_before(const Hdf5File& file, const std::string& path, std::uint64_t rows,
                          std::uint64_t supersteps) {
  const auto superstep = read_numbers<std::uint64_t>(file, path, 0, rows);
  const auto cut = std::ranges::lower_bound(superstep, supersteps);
  return static_cast<std::uint64_t>(cut - superstep.begin());
}

}  // namespace

std::map<std::string_view, std::uint64_t> whole_rows(const Hdf5File& file) {
  std::map<std::string_view, std::uint64_t> rows;
  for (const TraceColumn& column : trace_columns()) {
    if (!column.grows || !file.exists(column.path)) continue;
    std::uint64_t& least = rows.emplace(column.first_axis(), UINT64_MAX).first->second;
    least = std::min(least, file.shape(column.path, axes_of(column.axes).size())[0]);
  }
  const auto found = rows.find(kSupersteps.axes);
  if (found == rows.end() || read_attributes(file, kRootAttributes).complete) return rows;
  std::uint64_t& supersteps = found->second;
  if (rows.contains(kComputeProfiles.axes)) {
    const auto is_there = [](std::uint32_t number, std::uint64_t profiles) {
      return number < profiles || number == kNoProfile;
    };
    const auto numbers = read_rows(file, kProfileNumbers, 0, supersteps);
    const auto cut = std::ranges::find_if_not(numbers, [&](const ProfileNumbers& of_superstep) {
      return is_there(of_superstep.compute, rows[kComputeProfiles.axes]) &&
             is_there(of_superstep.exchange, rows[kExchangeProfiles.axes]);
    });
    supersteps = static_cast<std::uint64_t>(cut - numbers.begin());
  }
  const std::uint64_t behind =
      supersteps == 0 ? 0 : read_rows(file, kSupersteps, supersteps - 1, 1).front().number + 1;
  for (const auto& [axis, group] : {std::pair{kLaunches.axes, kLaunches.group},
                                    {kTransfers.axes, kTransfers.group},
                                    {kVertices.axes, kVertices.group},
                                    {kInstructions.axes, kInstructions.group}}) {
    if (!rows.contains(axis)) continue;
    std::uint64_t& count = rows[axis];
    count = rows_before(file, std::string(group) + "/superstep", count, behind);
  }
  return rows;
}

TraceTotals no_totals(const Hdf5File& file) {
  std::vector<StepGroup> groups = groups_of(read_table(file, kSteps));
  if (groups.empty()) throw std::runtime_error("has no steps");
  return TraceTotals(std::move(groups));
}

TraceTotals totals_so_far(const Hdf5File& file) {
  TraceTotals totals = no_totals(file);
  const auto rows = whole_rows(file);
  const auto supersteps = rows.find(kSupersteps.axes);
  if (supersteps == rows.end() || supersteps->second == 0) return totals;
  for_each_superstep(file, rows, 0, supersteps->second, [&](const SuperstepInFile& superstep) {
    totals.add(superstep.row, superstep.launches);
  });
  return totals;
}

std::vector<TraceEvent> read_events(const Hdf5File& file) {
  const auto rows = whole_rows(file);
  const auto count = rows.find(kEvents.axes);
  if (count == rows.end()) return {};
  std::vector<TraceEvent> events = read_rows(file, kEvents, 0, count->second);
  std::erase_if(
      events, [](const TraceEvent& event) { return event.kind > TraceEvent::Kind::kInterrupted; });
  return events;
}

}  // namespace superstep
