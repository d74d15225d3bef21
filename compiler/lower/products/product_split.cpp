#include "compiler/lower/products/product_split.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace superstep {
namespace {

IndexRange part(std::int64_t number, std::int64_t block, std::int64_t total) {
  return {number * block, std::min((number + 1) * block, total)};
}

TileId tile_of(const Product& p, std::int64_t batch, std::int64_t depth, std::int64_t row,
               std::int64_t column) {
  // Columns innermost: the two tiles of a pair share their rows. What follows another product has
  // its rows where those of the other's depth are.
  const ProductPlan& plan = p.plan;
  const std::int64_t block =
      plan.follows ? row * plan.depth_splits + depth : depth * plan.row_splits + row;
  const std::int64_t place =
      (batch * plan.depth_splits * plan.row_splits + block) * plan.column_splits + column;
  return TileId{(p.first_tile + static_cast<std::uint32_t>(place)) % p.tiles};
}

std::vector<OperandBlock> operand_blocks(const Product& p, bool is_left) {
  const ProductPlan& plan = p.plan;
  const std::int64_t splits = is_left ? plan.row_splits : plan.column_splits;
  const std::int64_t total = is_left ? p.sizes.rows : p.sizes.columns;
  const std::int64_t size = is_left ? plan.rows : plan.columns;
  const std::int64_t sharers = is_left ? plan.column_splits : plan.row_splits;
  std::vector<OperandBlock> blocks;
  for (std::int64_t ib = 0; ib < plan.batch_splits; ++ib) {
    for (std::int64_t ik = 0; ik < plan.depth_splits; ++ik) {
      for (std::int64_t f = 0; f < splits; ++f) {
        OperandBlock block{part(ib, plan.batches, p.sizes.batches),
                           part(f, size, total),
                           part(ik, plan.depth, p.sizes.depth),
                           {}};
        for (std::int64_t s = 0; s < sharers; ++s) {
          block.tiles.push_back(is_left ? tile_of(p, ib, ik, f, s) : tile_of(p, ib, ik, s, f));
        }
        std::ranges::sort(block.tiles);
        block.number = std::ssize(blocks);
        blocks.push_back(std::move(block));
      }
    }
  }
  return blocks;
}

void set_destinations(Axes& axes, std::int64_t unit) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    axis->to = unit;
    unit *= axis->size;
  }
}

std::int64_t product_of(const Axes& axes) {
  std::int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

}  // namespace

std::vector<ProductBlock> Product::blocks() const {
  std::vector<ProductBlock> all;
  for (std::int64_t ik = 0; ik < plan.depth_splits; ++ik) {
    for (std::int64_t ib = 0; ib < plan.batch_splits; ++ib) {
      for (std::int64_t ir = 0; ir < plan.row_splits; ++ir) {
        for (std::int64_t ic = 0; ic < plan.column_splits; ++ic) {
          all.push_back({tile_of(*this, ib, ik, ir, ic), ik, part(ib, plan.batches, sizes.batches),
                         part(ir, plan.rows, sizes.rows), part(ic, plan.columns, sizes.columns),
                         part(ik, plan.depth, sizes.depth)});
        }
      }
    }
  }
  return all;
}

std::vector<OperandBlock> Product::left_blocks() const { return operand_blocks(*this, true); }
std::vector<OperandBlock> Product::right_blocks() const { return operand_blocks(*this, false); }

std::vector<Box> nested_boxes(const std::vector<Nest>& nests, std::int64_t to) {
  std::vector<Box> boxes{{0, to, {}}};
  for (Nest nest : nests) {
    set_destinations(nest.axes, nest.unit);
    std::vector<Box> grown;
    for (const Box& inner : range_boxes(nest.axes, nest.range.first, nest.range.last)) {
      for (Box box : boxes) {
        box.from += inner.from;
        box.to += inner.to - nest.range.first * nest.unit;
        box.axes.insert(box.axes.end(), inner.axes.begin(), inner.axes.end());
        grown.push_back(std::move(box));
      }
    }
    boxes = std::move(grown);
  }
  return boxes;
}

LayoutPtr place_blocks(std::vector<OperandBlock>& blocks,
                       const std::function<BlockLayout(const OperandBlock&)>& layout) {
  std::vector<Interval> intervals;
  std::int64_t begin = 0;
  for (OperandBlock& block : blocks) {
    block.begin = begin;
    intervals.push_back({begin, layout(block).elements, block.tiles});
    begin = intervals.back().end();
  }
  return std::make_shared<const Layout>(std::move(intervals));
}

Reading gather(Values& values, const ProductSide& side, const std::vector<OperandBlock>& blocks,
               const std::function<BlockLayout(const OperandBlock&)>& layout) {
  Reading all;
  for (const OperandBlock& block : blocks) {
    const BlockLayout of_block = layout(block);
    for (const BlockLayout::NestedRanges& ranges : of_block.ranges) {
      for (Box& box : nested_boxes(ranges.nests, block.begin + ranges.to)) {
        Reading reading = values.read_side_by_side(side.operand, simplified(std::move(box)));
        all.ready = std::max(all.ready, reading.ready);
        std::ranges::move(reading.pieces, std::back_inserter(all.pieces));
      }
    }
  }
  return all;
}

bool has_depth_inside(Values& values, const ProductSide& side) {
  const std::int64_t depth = product_of(side.depth), free = product_of(side.free);
  std::vector<Box> boxes = nested_boxes({{side.batch, {0, product_of(side.batch)}, free * depth},
                                         {side.free, {0, free}, depth},
                                         {side.depth, {0, depth}, 1}},
                                        0);
  const Reading reading = values.read_side_by_side(side.operand, simplified(std::move(boxes[0])));
  const auto most = std::ranges::max_element(
      reading.pieces, {}, [](const Piece& piece) { return piece.box.elements(); });
  const Axis* nearest = nullptr;
  for (const Axis& axis : most->box.axes) {
    if (axis.from == 0) continue;
    if (nearest == nullptr || std::abs(axis.from) < std::abs(nearest->from)) nearest = &axis;
  }
  return nearest == nullptr || nearest->to == 1;
}

BufferId add_products(Values& values, const Product& product, DType dtype) {
  std::vector<Interval> intervals;
  std::int64_t begin = 0;
  for (const ProductBlock& block : product.blocks()) {
    intervals.push_back({begin, block.batch.size() * product.result_area(block), {block.tile}});
    begin = intervals.back().end();
  }
  return values.add_temporary(dtype, std::make_shared<const Layout>(std::move(intervals)),
                              product.origin.name + ".products", product.origin.source);
}

}  // namespace superstep
