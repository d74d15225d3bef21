#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "compiler/lower/products/product_sums.h"
#include "isa/machine_config.h"

namespace superstep {

/// Splits of a batched product over tiles, the largest block of each, and how it is multiplied.
struct ProductPlan {
  std::int64_t batch_splits = 1, row_splits = 1, column_splits = 1, depth_splits = 1;
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;  ///< of a block
  /// AMP: a tile takes `step_depth` of its depth at a time, and adds to its sums in place.
  std::int64_t step_depth = 1;
  bool on_amp = false;
  bool rows_inside = false;      ///< AMP: rows of one depth are neighbours
  bool transposes = false;       ///< AMP: weights come with columns as neighbours
  bool transposes_rows = false;  ///< AMP: rows of one depth come as neighbours
  bool follows = false;          ///< AMP: rows lie where a product before this one had them
  bool arranges = false;         ///< AMP: weights come with the depth inside, in long runs

  SumPlan sums = {};  ///< of parts of the depth, where results leave their blocks

  /// AMP: the rows of a block are padded to a multiple.
  [[nodiscard]] std::int64_t row_unit() const { return rows_inside ? 2 : transposes_rows ? 4 : 1; }
  /// 0: what a tile holds leaves room for the rest of the program; more: it takes more than it
  /// should.
  int excess = 0;
  std::int64_t cycles = 0;
  /// Off the AMP: those of the best plan on it, if there is one.
  std::optional<std::int64_t> cycles_on_amp = {};

  [[nodiscard]] std::int64_t tiles() const {
    return batch_splits * row_splits * column_splits * depth_splits;
  }
};

/// Sizes of a product [batches][rows][depth] x [batches][columns][depth].
struct ProductSizes {
  std::int64_t batches = 1, rows = 1, columns = 1, depth = 1;
};

/// What the planner knows of a product.
struct ProductProblem {
  ProductSizes sizes;
  DType input = DType::kF32, result = DType::kF32;
  bool left_depth_inside = true, right_depth_inside = true;  ///< as the operands are stored
  std::int64_t results_per_tile = 32;                        ///< where partial sums are added
  /// The same of sums of runs of parts, if it is another number.
  std::optional<std::int64_t> sums_of_runs_per_tile = {};
  bool result_columns_inside = true;  ///< columns are neighbours in the result, not rows
  bool left_in_blocks = false, right_in_blocks = false;  ///< operands may be stored as planned
  bool keeps_blocks = false;                             ///< the result may stay so
  /// Operands that tiles have from the beginning, as they are multiplied on the AMP units.
  bool left_is_there = false, right_is_there = false;
  std::int64_t left_per_tile = 0, right_per_tile = 0;  ///< elements of the operands as they lie
  /// AMP: most bytes of operands in region 0, where there is less room than usual; 0: none is on
  /// the AMP units.
  std::optional<std::int64_t> most_region0_bytes = {};
};

/// Operands that stay, as rows in region 0 until a later product takes them, or constants, are in
/// the way of others: most bytes of one product's, and of all.
[[nodiscard]] std::int64_t most_bytes_that_stay(const MachineConfig& machine);
[[nodiscard]] std::int64_t most_bytes_that_stay_of_all(const MachineConfig& machine);

/// Whether a tile has at least a pair of interleaved memory elements, for accesses of 128 bits.
[[nodiscard]] bool has_interleaved_memory(const MachineConfig& machine);

/// Whether there are AMP codelets for products of this dtype on this machine.
[[nodiscard]] bool has_amp_codelet(const MachineConfig& machine, DType input);

/// Bytes of region 0 that the operands of an AMP plan take on a tile.
[[nodiscard]] std::int64_t region0_bytes(const ProductProblem& problem, const ProductPlan& plan);

/// The plan with the least estimated cycles, by exhaustive search over splits. `later` is a product
/// of the same left operand with rows and depth exchanged, as that of a weight's gradient: it may
/// follow this one, and the cycles of both count.
[[nodiscard]] ProductPlan plan_product(const MachineConfig& machine, const ProductProblem& problem,
                                       const ProductProblem* later = nullptr);

/// The plan of a product that takes its rows as they lie on the tiles of `before`, a product of the
/// same left operand with rows and depth exchanged; nothing when it cannot.
[[nodiscard]] std::optional<ProductPlan> plan_following(const MachineConfig& machine,
                                                        const ProductProblem& problem,
                                                        const ProductProblem& before,
                                                        const ProductPlan& plan_before);

}  // namespace superstep
