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

/// What a launch costs besides the timing of its code: a supervisor prepares it beside another, but
/// it may wait for others on its tile [chosen by bench/fit_by_builds.py on 12 generated layers with
/// their gradients and 3 deep networks on bow and small64. Device cycles above the least of these
/// values, on average and at the 95th percentile: 0.95 and 0.4 % with 0, 0.22 and 0.4 % with 40,
/// 0.17 and 0.3 % with 80, 0.34 and 1.6 % with 160].
constexpr std::int64_t kLaunchPrice = 80;

/// Rows of one move may take so much of region 0 before their size counts [chosen, not fitted: a
/// row is also that of other moves, and region 0 holds other code. It was made for the transpose of
/// 4096 x 4096 f32 on bow].
constexpr std::int64_t kPartOfRegion0 = 5;

}  // namespace

Costs::Costs(const MachineConfig& machine)
    : item_(machine),
      workers_(machine.tile.workers),
      period_(machine.issue_period()),
      phase_(static_cast<std::int64_t>(barrier_latency(machine).value()) + mean_path(machine)),
      // The supervisor waits for the address of the states; the last worker begins after the
      // others.
      overhead_(machine.costs.result_latency + kLaunchPrice),
      launch_(overhead_ + machine.costs.runall + machine.tile.workers),
      many_transfers_(std::int64_t{machine.tile.region1_base - machine.tile.memory_base} /
                      kPartOfRegion0 / (kSendRowBytes + kReceiveRowBytes)) {}

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

}  // namespace superstep
