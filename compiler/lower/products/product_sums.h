#pragma once

#include <cstdint>

#include "compiler/cost/costs.h"
#include "isa/machine_config.h"

namespace superstep {

/// Results of a product of which each is the sum of several parts.
struct SumProblem {
  std::int64_t results = 1;
  std::int64_t parts = 1;     ///< of each result
  std::int64_t per_tile = 1;  ///< results of a tile that adds all parts at once
  std::int64_t at_end = 1;    ///< of one that adds sums of runs
  std::int64_t sent = 0;      ///< products that a tile sends
  bool come_in_runs = true;   ///< neighbours in the result are neighbours among the products
};

/// How parts are added: all at once where the results lie, or runs of consecutive parts first, each
/// on tiles of its own.
struct SumPlan {
  std::int64_t runs = 1;   ///< 1: all parts at once
  std::int64_t parts = 1;  ///< of a run; the last may have fewer
  std::int64_t width = 0;  ///< results of a tile that adds a run
  std::int64_t cycles = 0;

  /// Most elements that a tile receives at once.
  [[nodiscard]] std::int64_t received(const SumProblem& problem) const;
};

/// To add so many parts of so many sums on a tile, the last worker's share [derived from the
/// codelet].
[[nodiscard]] std::int64_t cycles_to_add(const MachineConfig& machine, const Costs& costs,
                                         std::int64_t sums, std::int64_t parts);

/// The way with the least estimated cycles.
[[nodiscard]] SumPlan plan_sums(const MachineConfig& machine, const Costs& costs,
                                const SumProblem& problem);

}  // namespace superstep
