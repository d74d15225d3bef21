#include "compiler/cost/costs.h"

#include <vector>

#include "compiler/vertex/copy_plan.h"
#include "isa/timing.h"

namespace superstep {
namespace {

/// From the opening of a barrier to the arrival of a word that leaves at once, on average over
/// pairs of tiles. Latency and skew are linear in rows, so the ends of columns stand for all.
std::int64_t mean_path(const MachineConfig& machine) {
  std::vector<TileId> ends;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    const TilePlace place = place_of(machine, TileId{t});
    if (place.lane == 0 && (place.row == 0 || place.row + 1 == machine.grid.rows)) {
      ends.push_back(TileId{t});
    }
  }
  std::uint64_t sum = 0;
  for (const TileId from : ends) {
    for (const TileId to : ends) {
      sum += release_skew(machine, from).value() + exchange_latency(machine, from, to).value();
    }
  }
  return static_cast<std::int64_t>(sum / (ends.size() * ends.size()));
}

/// Cycles of the supervisor between two launches, and of workers that idle since nothing runs
/// beside a launch more [chosen: with 40, digits_mlp on bow takes more and shorter launches and 5 %
/// more cycles].
constexpr std::int64_t kLaunchOverhead = 180;
/// Slots of a worker to reduce besides its elements; cycles of a tile for an element, between sums
/// (2) and maxima (8 in f16), and for each run of neighbours [chosen: with less for elements and
/// runs, digits_mlp cuts its sums too coarsely and takes 16 % more].
constexpr std::int64_t kReduceLaunchSlots = 22, kReduceCyclesPerElement = 4,
                       kReduceCyclesPerRun = 2;

}  // namespace

Costs::Costs(const MachineConfig& machine)
    : workers_(machine.tile.workers),
      phase_(machine.sync.internal_latency + mean_path(machine)),
      // The supervisor waits for the address of the states; the last worker begins after the
      // others.
      launch_(machine.costs.result_latency + machine.costs.runall + machine.tile.workers +
              kLaunchOverhead) {}

std::int64_t Costs::copy(std::int64_t boxes, std::int64_t runs, std::int64_t run,
                         std::uint32_t element_bytes) const {
  using vertex::CopyKind;
  const std::int64_t bytes = run * element_bytes;
  const CopyKind kind = bytes % 8 == 0   ? CopyKind::kDense
                        : bytes % 4 == 0 ? CopyKind::kStrided
                                         : CopyKind::kGather;
  const std::int64_t steps = kind == CopyKind::kDense     ? bytes / 8
                             : kind == CopyKind::kStrided ? bytes / 4
                                                          : run;
  const vertex::CopyCosts costs = vertex::copy_costs(kind, element_bytes);
  const auto of = [](std::uint64_t slots) { return static_cast<std::int64_t>(slots); };
  const std::int64_t row = of(costs.row + vertex::kCopyRowSlots) + of(costs.step) * steps;
  const std::int64_t command = of(costs.command + vertex::kCopyRowsSlots);
  return launch(of(vertex::kCopyWorkerSlots) + boxes * command +
                (boxes * runs + workers_ - 1) / workers_ * row);
}

std::int64_t Costs::reduce(std::int64_t width, std::int64_t depth, bool in_rows) const {
  const std::int64_t runs = in_rows ? width : depth;
  return launch(kReduceLaunchSlots) + width * depth * kReduceCyclesPerElement +
         runs * kReduceCyclesPerRun;
}

}  // namespace superstep
