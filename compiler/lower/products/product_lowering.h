#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/lower/products/product_op.h"
#include "compiler/lower/products/product_plan.h"
#include "compiler/lower/products/product_result.h"
#include "compiler/lower/products/product_split.h"
#include "compiler/lower/values.h"

namespace superstep {

/// One product: what its planner needs to know of it, and its lowering by a plan.
class ProductLowering {
 public:
  ProductLowering(ProgramBuilder& builder, Values& values, const ProductOp& product);

  [[nodiscard]] const Product& product() const { return product_; }
  [[nodiscard]] const std::vector<BufferId>& buffers() const { return buffers_; }

  /// Makes the rows the columns.
  void exchange_roles();
  /// What is left of the product once the result's dimensions are permuted; nothing to multiply
  /// when that is a constant.
  [[nodiscard]] bool prepare();
  /// Decides what are rows, and where everything lies in the wanted result.
  void orient();

  /// What the planner needs to know, when the operands are lowered.
  [[nodiscard]] ProductProblem problem() const;
  /// The same of a product that follows `before`, whose right operand is not lowered yet.
  [[nodiscard]] ProductProblem problem_after(const ProductProblem& before) const;
  /// Whether `product` has the same left operand with rows and depth exchanged.
  [[nodiscard]] bool can_follow(const Product& product) const;

  /// Lowers the product; its rows stay on their tiles.
  StoredValue lower(const ProductProblem& problem, const ProductPlan& plan,
                    std::uint32_t first_tile, const std::optional<StoredValue>& rows);

 private:
  /// Whether the depth is a multiple of what the AMP units take: nothing fills up stored blocks.
  [[nodiscard]] bool has_whole_inputs() const;
  /// Gives an argument that has no storage yet that of the blocks that are multiplied.
  void store_in_blocks(ProductSide& side, bool weights);
  /// Whether an operand may be on all tiles that multiply it from the beginning.
  [[nodiscard]] bool is_small_constant(ValueId operand) const;
  [[nodiscard]] std::int64_t operand_per_tile(ValueId operand) const;

  ProgramBuilder& builder_;
  Values& values_;
  const ProductOp& product_op_;
  Product product_;
  ProductResult result_;
  DType dtype_{};  ///< of the result
  bool has_columns_inside_ = true;
  std::vector<BufferId> buffers_;
};

}  // namespace superstep
