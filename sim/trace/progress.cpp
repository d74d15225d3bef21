#include "sim/trace/progress.h"

#include <algorithm>
#include <stdexcept>

#include "sim/trace/rows_by_superstep.h"
#include "sim/trace/schema.h"
#include "sim/trace/superstep_rows.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// Of so many supersteps of an unfinished file those in front of the first without its profiles:
/// what is missing was to be written last.
std::uint64_t with_profiles(const Hdf5File& file, std::uint64_t supersteps,
                            std::uint64_t of_compute, std::uint64_t of_exchange) {
  const auto is_there = [&](const ProfileNumbers& row) {
    return (row.compute < of_compute || row.compute == kNoProfile) &&
           (row.exchange < of_exchange || row.exchange == kNoProfile);
  };
  const auto has_profile = [](const ProfileNumbers& row) { return row.compute != kNoProfile; };
  std::uint64_t whole = supersteps;
  for (std::uint64_t end = supersteps; end > 0;) {
    const std::uint64_t begin = end - std::min(end, kSuperstepChunk);
    const auto rows = read_rows(file, kProfileNumbers, begin, end - begin);
    const auto missing = std::ranges::find_if_not(rows, is_there);
    if (missing != rows.end()) whole = begin + static_cast<std::uint64_t>(missing - rows.begin());
    if (missing == rows.end() && std::ranges::any_of(rows, has_profile)) break;
    end = begin;
  }
  return whole;
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
    supersteps =
        with_profiles(file, supersteps, rows[kComputeProfiles.axes], rows[kExchangeProfiles.axes]);
  }
  const std::uint64_t behind =
      supersteps == 0 ? 0 : read_rows(file, kSupersteps, supersteps - 1, 1).front().number + 1;
  for (const auto& [axis, group] : {std::pair{kLaunches.axes, kLaunches.group},
                                    {kTransfers.axes, kTransfers.group},
                                    {kVertices.axes, kVertices.group},
                                    {kInstructions.axes, kInstructions.group}}) {
    if (!rows.contains(axis)) continue;
    std::uint64_t& count = rows[axis];
    count = first_of_superstep(file, std::string(group) + "/superstep", count, behind);
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

std::vector<StepRow> read_steps(const Hdf5File& file) {
  std::vector<StepRow> steps = read_table(file, kSteps);
  for (StepRow& step : steps) {
    const bool is_known =
        step.kind_number != kControlKind && step.kind_number < std::size(kStepKinds);
    if (is_known) step.kind = static_cast<StepInfo::Kind>(step.kind_number);
    if (step.known_trips > 0) step.trips = step.known_trips;
  }
  // Traces before format 1.9 have none.
  if (!file.exists(kFusedOperations.path_of("step"))) return steps;
  for (FusedOperationRow& row : read_table(file, kFusedOperations)) {
    if (row.step < steps.size()) steps[row.step].fused.push_back(std::move(row));
  }
  return steps;
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
