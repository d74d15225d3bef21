#include "compiler/lower/products/product_blocks.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/vertex/add_parts.h"
#include "compiler/vertex/amp_product.h"

namespace superstep {

std::optional<BlockedDimensions> BlockedDimensions::of(const std::array<Axes, 3>& spaces,
                                                       Side side) {
  std::array<std::optional<Axis>, 3> merged;
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    for (const Axis& axis : spaces[s]) {
      if (axis.size == 1) continue;
      const std::int64_t stride = axis.*side.stride;
      if (merged[s] && merged[s]->from != stride * axis.size) return std::nullopt;
      merged[s] = Axis{axis.size * (merged[s] ? merged[s]->size : 1), stride, 0};
    }
  }
  std::array<std::size_t, 3> in_order{0, 1, 2};
  std::ranges::sort(in_order, std::ranges::greater{},
                    [&](std::size_t s) { return merged[s] ? merged[s]->from : 0; });
  BlockedDimensions dimensions;
  for (const std::size_t s : in_order) {
    dimensions.dimensions_[s] = dimensions.shape_.size();
    dimensions.shape_.push_back(merged[s] ? merged[s]->size : 1);
  }
  return dimensions;
}

Order BlockedDimensions::order(const std::vector<Digit>& digits) const {
  std::vector<OrderAxis> axes;
  for (const Digit& digit : digits) {
    axes.push_back({dimensions_[digit.space], digit.size, digit.step});
  }
  return blocked_order(shape_, axes);
}

LayoutPtr blocks_layout(ProgramBuilder& builder, const Product& product,
                        const BlockedDimensions& dimensions, bool weights) {
  using Space = BlockedDimensions::Space;
  const ProductPlan& plan = product.plan;
  const std::int64_t size = weights ? plan.columns : plan.rows;
  const std::int64_t steps = plan.depth / plan.step_depth;
  std::vector<BlockedDimensions::Digit> digits{
      {Space::kBatch, plan.batch_splits, plan.batches},
      {Space::kDepth, plan.depth_splits, plan.depth},
      {Space::kFree, weights ? plan.column_splits : plan.row_splits, size},
      {Space::kDepth, steps, plan.step_depth},
      {Space::kBatch, plan.batches, 1}};
  if (weights) {
    const std::int64_t inputs = vertex::AmpProduct{.operands = product.input}.depth();
    digits.push_back({Space::kDepth, plan.step_depth / inputs, inputs});
    digits.push_back({Space::kFree, size, 1});
    digits.push_back({Space::kDepth, inputs, 1});
  } else {
    digits.push_back({Space::kFree, size, 1});
    digits.push_back({Space::kDepth, plan.step_depth, 1});
  }
  // Tiles that share a block hold parts of it, which are aligned like all that is sent.
  constexpr std::int64_t kUnit = 16;
  const std::int64_t area = plan.batches * size * plan.depth;
  std::vector<Interval> intervals;
  for (const OperandBlock& block : weights ? product.right_blocks() : product.left_blocks()) {
    const auto sharers = static_cast<std::int64_t>(block.tiles.size());
    const std::int64_t share = (area + sharers * kUnit - 1) / (sharers * kUnit) * kUnit;
    std::int64_t begin = 0;
    for (const TileId tile : block.tiles) {
      if (begin == area) break;
      const std::int64_t count = std::min(share, area - begin);
      intervals.push_back({block.number * area + begin, count, {tile}});
      begin += count;
    }
  }
  return builder.layouts().with(std::move(intervals), dimensions.order(digits));
}

LayoutPtr result_blocks_layout(ProgramBuilder& builder, const Product& product,
                               const BlockedDimensions& dimensions) {
  using Space = BlockedDimensions::Space;
  const ProductPlan& plan = product.plan;
  const std::int64_t group = product.column_group, splits = plan.depth_splits;
  const std::int64_t area = plan.batches * plan.rows * plan.columns;
  constexpr std::int64_t kUnit = 2 * vertex::kAddPartsGroup;
  const std::int64_t share = (area + splits * kUnit - 1) / (splits * kUnit) * kUnit;
  const std::vector<ProductBlock> blocks = product.blocks();
  const auto count = static_cast<std::int64_t>(blocks.size()) / splits;
  std::vector<Interval> intervals;
  for (std::int64_t b = 0; b < count; ++b) {
    for (std::int64_t ik = 0; ik * share < area; ++ik) {
      const TileId tile = blocks[static_cast<std::size_t>(ik * count + b)].tile;
      intervals.push_back({b * area + ik * share, std::min(share, area - ik * share), {tile}});
    }
  }
  return builder.layouts().with(
      std::move(intervals), dimensions.order({{Space::kBatch, plan.batch_splits, plan.batches},
                                              {Space::kRows, plan.row_splits, plan.rows},
                                              {Space::kColumns, plan.column_splits, plan.columns},
                                              {Space::kBatch, plan.batches, 1},
                                              {Space::kColumns, plan.columns / group, group},
                                              {Space::kRows, plan.rows, 1},
                                              {Space::kColumns, group, 1}}));
}

}  // namespace superstep
