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
/// it may wait for others on its tile [chosen by bench/fit_by_builds.py on 30 generated layers with
/// their gradients on bow and small64. Device cycles above the least of these values, on average
/// and at the 95th percentile: 0.59 and 3.8 % with 0, 0.17 and 0.3 % with 40, 0.24 and 0.9 % with
/// 80, 0.38 and 2.9 % with 180. digits_mlp on bow decided against 40, with which it takes 228
/// cycles more].
constexpr std::int64_t kLaunchPrice = 80;

}  // namespace

Costs::Costs(const MachineConfig& machine)
    : workers_(machine.tile.workers),
      phase_(machine.sync.internal_latency + mean_path(machine)),
      // The supervisor waits for the address of the states; the last worker begins after the
      // others.
      overhead_(machine.costs.result_latency + kLaunchPrice),
      launch_(overhead_ + machine.costs.runall + machine.tile.workers) {}

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
