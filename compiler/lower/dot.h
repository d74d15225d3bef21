#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/values.h"

namespace superstep {

/// Splits of a batched product over tiles, the largest block of each, and how it is multiplied.
struct DotPlan {
  std::int64_t batch_splits = 1, row_splits = 1, column_splits = 1, depth_splits = 1;
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;  ///< of a block
  /// AMP: a tile takes `step_depth` of its depth at a time, and adds to its sums in place.
  std::int64_t step_depth = 1;
  bool on_amp = false;
  bool rows_inside = false;      ///< AMP: rows of one depth are neighbours
  bool transposes = false;       ///< AMP: weights come with columns as neighbours
  bool transposes_rows = false;  ///< AMP: rows of one depth come as neighbours

  /// AMP: the rows of a block are padded to a multiple.
  [[nodiscard]] std::int64_t row_unit() const { return rows_inside ? 2 : transposes_rows ? 4 : 1; }
  std::int64_t cycles = 0;

  [[nodiscard]] std::int64_t tiles() const {
    return batch_splits * row_splits * column_splits * depth_splits;
  }
};

/// Sizes of a product [batches][rows][depth] x [batches][columns][depth].
struct DotSizes {
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;
};

/// What the planner knows of a product.
struct DotProblem {
  DotSizes sizes;
  DType input = DType::kF32, result = DType::kF32;
  bool left_depth_inside = true, right_depth_inside = true;  ///< as the operands are stored
  std::int64_t results_per_tile = 32;                        ///< where partial sums are added
};

/// The plan with the least estimated cycles, by exhaustive search over splits.
[[nodiscard]] DotPlan plan_dot(const MachineConfig& machine, const DotProblem& problem);

/// Lowers `stablehlo.dot_general` of floats. `transposed` is the value that takes the result with
/// its dimensions permuted when that is its only use, `permutation` says how.
void lower_dot(ProgramBuilder& builder, Values& values, const Op& op,
               std::optional<ValueId> transposed, const std::vector<std::int64_t>& permutation);

}  // namespace superstep
