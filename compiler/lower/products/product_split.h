#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/products/product_plan.h"
#include "compiler/lower/values.h"

namespace superstep {

/// Numbers [first, last) of one of the index spaces of a product.
struct IndexRange {
  std::int64_t first = 0, last = 0;
  [[nodiscard]] std::int64_t size() const { return last - first; }
};

/// One operand of a product; `from` strides of the axes are those of the operand. The free axes are
/// rows of the left operand, columns of the right one.
struct ProductSide {
  ValueId operand{};
  Axes batch, free, depth;
  std::optional<BufferId> blocks = {};  ///< the operand, stored in the order of its blocks
  bool is_there = false;                ///< AMP: a constant, stored as it is multiplied
};

/// What one tile multiplies.
struct ProductBlock {
  TileId tile{};
  std::int64_t depth_part = 0;
  IndexRange batch, rows, columns, depth;
};

/// A part of an operand, and the tiles that need it.
struct OperandBlock {
  IndexRange batch, free, depth;
  std::vector<TileId> tiles;  ///< ascending
  std::int64_t number = 0;
  std::int64_t begin = 0;  ///< where it lies among all blocks
};

/// A product [batch][row][depth] x [batch][column][depth] split over tiles. A tile's results are
/// [batch][group of columns][row][column in the group].
struct Product {
  Origin origin;
  ProductSide left, right;
  ProductSizes sizes;
  DType input = DType::kF32;
  ProductPlan plan;
  std::uint32_t first_tile = 0, tiles = 1;
  /// A product whose plan follows another's: that one's rows where they lie.
  std::optional<StoredValue> rows_there;
  std::int64_t column_group = 0;                 ///< columns of a group; 0: all of a block
  std::int64_t row_unit = 1;                     ///< rows of a block are padded to a multiple
  bool pads_rows = false, pads_columns = false;  ///< AMP: all blocks have as many as the largest

  /// In order of depth parts.
  [[nodiscard]] std::vector<ProductBlock> blocks() const;
  /// How many steps the largest blocks take.
  [[nodiscard]] std::int64_t steps() const {
    return (plan.depth + plan.step_depth - 1) / plan.step_depth;
  }
  [[nodiscard]] std::vector<OperandBlock> left_blocks() const;
  [[nodiscard]] std::vector<OperandBlock> right_blocks() const;

  /// Tiles that share a block of an operand.
  [[nodiscard]] std::int64_t sharers(bool is_left) const {
    return is_left ? plan.column_splits : plan.row_splits;
  }
  [[nodiscard]] std::int64_t padded_rows(IndexRange rows) const {
    if (pads_rows) return plan.rows;
    return (rows.size() + row_unit - 1) / row_unit * row_unit;
  }
  [[nodiscard]] std::int64_t padded_rows(const ProductBlock& block) const {
    return padded_rows(block.rows);
  }
  [[nodiscard]] std::int64_t group_of(const ProductBlock& block) const {
    return column_group == 0 ? block.columns.size() : column_group;
  }
  [[nodiscard]] std::int64_t groups_of(const ProductBlock& block) const {
    const std::int64_t group = group_of(block);
    return ((pads_columns ? plan.columns : block.columns.size()) + group - 1) / group;
  }
  /// Elements from one of the batch of a block's results to the next: each starts 8-byte aligned,
  /// whatever the dtype.
  [[nodiscard]] std::int64_t result_area(const ProductBlock& block) const {
    const std::int64_t area = groups_of(block) * padded_rows(block) * group_of(block);
    return block.batch.size() > 1 ? (area + 7) / 8 * 8 : area;
  }
};

/// An index range of some axes, and what a step in it is on the destination side.
struct Nest {
  Axes axes;
  IndexRange range;
  std::int64_t unit = 1;
};
/// Copies of nested ranges to element `to` and on.
[[nodiscard]] std::vector<Box> nested_boxes(const std::vector<Nest>& nests, std::int64_t to);

/// How an operand block lies on its tiles: nests relative to its first element.
struct BlockLayout {
  /// Nests whose elements lie from `to` on.
  struct NestedRanges {
    std::vector<Nest> nests;
    std::int64_t to = 0;
  };
  std::int64_t elements = 0;
  std::vector<NestedRanges> ranges;
};

/// Puts blocks behind each other: intervals, one for each.
[[nodiscard]] LayoutPtr place_blocks(std::vector<OperandBlock>& blocks,
                                     const std::function<BlockLayout(const OperandBlock&)>& layout);

/// The copies that fill the blocks of an operand where they are multiplied.
[[nodiscard]] Reading gather(Values& values, const ProductSide& side,
                             const std::vector<OperandBlock>& blocks,
                             const std::function<BlockLayout(const OperandBlock&)>& layout);

/// Whether neighbours along the depth are nearer to each other in the source than other
/// neighbours.
[[nodiscard]] bool has_depth_inside(Values& values, const ProductSide& side);

/// The products of all blocks, on the tiles that multiplied.
struct Multiplied {
  BufferId products{};
  Time time;
  BufferId rows{};                ///< AMP: the left operand of the last step
  std::vector<BufferId> buffers;  ///< AMP: of operands and products
};

/// A buffer for the products, an interval for each block.
[[nodiscard]] BufferId add_products(Values& values, const Product& product, DType dtype);

/// Multiplies with one codelet that takes dense blocks.
[[nodiscard]] Multiplied multiply_dense(ProgramBuilder& builder, Values& values,
                                        const Product& product, DType result);
/// Multiplies on the AMP units; products are f32.
[[nodiscard]] Multiplied multiply_on_amp(ProgramBuilder& builder, Values& values,
                                         const Product& product);

}  // namespace superstep
