#include <algorithm>
#include <tuple>

#include "compiler/lower/dot.h"
#include "compiler/lower/matmul_kernel.h"

namespace superstep {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Splits of `n` that give different largest parts, ascending; none exceeds `most`.
std::vector<std::int64_t> splits_of(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> splits;
  std::int64_t last = 0;
  for (std::int64_t s = 1; s <= std::min(n, most); ++s) {
    const std::int64_t part = divide_up(n, s);
    if (part == last) continue;
    last = part;
    splits.push_back(divide_up(n, part));
  }
  return splits;
}

/// Cycles to add one partial sum with all workers busy [assumed].
constexpr std::int64_t kCyclesPerPartial = 4;
constexpr std::int64_t kLaunchCycles = 150;

}  // namespace

DotPlan plan_dot(const MachineConfig& machine, const DotSizes& sizes, DType input, DType result) {
  const MatmulKernel kernel = MatmulKernel::of(input, result);
  const std::int64_t tiles = machine.tiles();
  const std::int64_t phase = machine.sync.internal_latency + 100;
  const auto input_bytes = static_cast<std::int64_t>(size_of(input));
  // A block, its operands and what is received of them must leave room for the rest of the program.
  const std::int64_t most_bytes = machine.tile.memory_bytes / 3;
  std::optional<DotPlan> best;
  std::int64_t best_bytes = 0;
  const auto consider = [&](DotPlan plan) {
    plan.batches = divide_up(sizes.batches, plan.batch_splits);
    plan.rows = divide_up(sizes.rows, plan.row_splits);
    plan.columns = divide_up(sizes.columns, plan.column_splits);
    plan.depth = divide_up(sizes.depth, plan.depth_splits);
    const std::int64_t operands =
        plan.batches * plan.depth * (plan.rows + plan.columns) * input_bytes;
    const std::int64_t outputs = plan.batches * plan.rows * plan.columns;
    plan.cycles = phase + operands / 4 +
                  plan.batches * kernel.cycles(machine, plan.rows, plan.columns, plan.depth);
    const std::int64_t all_outputs = sizes.batches * sizes.rows * sizes.columns;
    const std::int64_t per_tile = std::max<std::int64_t>(32, divide_up(all_outputs, tiles));
    plan.cycles += phase + per_tile * plan.depth_splits;
    if (plan.depth_splits > 1) {
      plan.cycles += kLaunchCycles + per_tile * plan.depth_splits * kCyclesPerPartial;
    }
    const std::int64_t bytes = operands + outputs * 4;
    const bool fits = bytes <= most_bytes;
    const bool best_fits = best && best_bytes <= most_bytes;
    const bool better = !best || (fits && !best_fits) ||
                        (fits == best_fits && (fits ? std::tuple(plan.cycles, bytes) <
                                                          std::tuple(best->cycles, best_bytes)
                                                    : bytes < best_bytes));
    if (better) {
      best = plan;
      best_bytes = bytes;
    }
  };
  for (const std::int64_t b : splits_of(sizes.batches, tiles)) {
    // Batches share nothing: other splits only help when batches alone do not fill the machine.
    if (b < sizes.batches && b * 2 <= tiles && sizes.batches <= tiles) continue;
    for (const std::int64_t k : splits_of(sizes.depth, tiles / b)) {
      for (const std::int64_t c : splits_of(sizes.columns, tiles / (b * k))) {
        for (const std::int64_t r : splits_of(sizes.rows, tiles / (b * k * c))) {
          consider({.batch_splits = b, .row_splits = r, .column_splits = c, .depth_splits = k});
        }
      }
    }
  }
  return *best;
}

}  // namespace superstep
