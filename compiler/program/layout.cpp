#include "compiler/program/layout.h"

#include <algorithm>
#include <optional>

#include "base/divide.h"
#include "base/error.h"
#include "compiler/cost/costs.h"
#include "compiler/program/table_layout.h"

namespace superstep {
namespace {

/// A multiple of 8 bytes of any dtype.
constexpr std::int64_t kGrain = 8;

}  // namespace

Layout::Layout(std::vector<Interval> intervals, Order order)
    : intervals_(std::move(intervals)), order_(std::move(order)) {
  for (std::uint32_t i = 0; i < intervals_.size(); ++i) {
    for (const TileId tile : intervals_[i].tiles) by_tile_.emplace_back(tile, i);
  }
  std::ranges::sort(by_tile_);
  for (std::size_t i = 1; i < by_tile_.size(); ++i) {
    SUPERSTEP_CHECK(by_tile_[i - 1].first != by_tile_[i].first, "a tile holds one interval");
  }
}

IntervalEnd Layout::interval_at(std::int64_t element) const {
  // Most intervals are alike.
  const auto guess =
      static_cast<std::size_t>(element / std::max<std::int64_t>(intervals_.front().count, 1));
  if (guess < intervals_.size() && intervals_[guess].begin <= element &&
      element < intervals_[guess].end()) {
    return {guess, intervals_[guess].end()};
  }
  const auto after = std::ranges::upper_bound(intervals_, element, {}, &Interval::begin);
  const auto number = static_cast<std::size_t>(after - intervals_.begin()) - 1;
  return {number, intervals_[number].end()};
}

std::vector<Box> Layout::from_storage(const Box& box) const {
  std::vector<Box> boxes{box};
  for (const Box& step : order_) {
    const Box back = reversed(step);
    std::vector<Box> next;
    for (const Box& one : boxes) {
      compose_parts(one, back, [&](const Box& part) { next.push_back(part); });
    }
    boxes = std::move(next);
  }
  return boxes;
}

std::vector<Box> Layout::to_storage(const Box& box) const {
  if (is_row_major()) return {box};
  std::vector<Box> boxes = from_storage(reversed(box));
  for (Box& one : boxes) one = reversed(one);
  return boxes;
}

std::vector<Layout::Part> Layout::parts(std::int64_t elements) const {
  std::vector<Part> parts;
  for (const Box& box : from_storage(simplified({0, 0, {{elements, 1, 1}}}))) {
    partition(
        box, kFromSide, [&](std::int64_t e) { return interval_at(e); },
        [&](std::size_t interval, const Box& part) {
          parts.push_back({interval, part});
        });
  }
  return parts;
}

const Interval* Layout::on(TileId tile) const {
  const auto found =
      std::ranges::lower_bound(by_tile_, tile, {}, &std::pair<TileId, std::uint32_t>::first);
  if (found == by_tile_.end() || found->first != tile) return nullptr;
  return &intervals_[found->second];
}

Layouts::Cut Layouts::cut_of(const Shape& shape, const LayoutWish& wish) const {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  const std::int64_t share = std::max(wish.least, divide_up(elements, std::int64_t{tiles_}));
  const std::int64_t balanced = divide_up(share, kGrain) * kGrain;
  // Whole rows or parts of a row, where no tile gets much more than its share.
  const auto in_rows = [&](std::int64_t row, std::int64_t surplus) -> std::optional<Cut> {
    if (row <= 1) return std::nullopt;
    const std::int64_t rows = elements / row;
    const std::int64_t most = balanced + surplus + wish.least;
    if (row <= std::max(share, Costs::kLeastPerTile)) {
      const std::int64_t rows_of_share = std::max(share / row, std::int64_t{1});
      const std::int64_t part =
          std::max(rows_of_share, divide_up(rows, std::int64_t{tiles_})) * row;
      if (part <= most) return Cut{elements, std::min(part, elements)};
    } else if (rows <= tiles_) {
      const std::int64_t parts = std::min(std::int64_t{tiles_} / rows, divide_up(row, share));
      const std::int64_t part = std::min(row, divide_up(divide_up(row, parts), kGrain) * kGrain);
      if (part <= most) return Cut{row, part};
    }
    return std::nullopt;
  };
  // Rows of as many dimensions as go into a share, but at least one.
  std::int64_t row = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (row > 1 && row * shape[d] > share) break;
    row *= shape[d];
  }
  // So much more than balanced may a tile hold for whole rows [chosen: training steps of 4 layers
  // of 1024 x 1024 on bow take 2 % more cycles with none than with a fourth; 15 generated layers
  // and networks on small64 are above the least by 0.43 % on average with none, 1.00 % with a
  // fourth, 2.55 % with a half, and take the same with a fourth to all where the rows are wanted].
  const std::optional<Cut> cut = in_rows(row, balanced / 4);
  if (wish.row > 1 && !(cut && cut->part % wish.row == 0)) {
    if (const std::optional<Cut> wanted = in_rows(wish.row, balanced / 2)) return *wanted;
  }
  return cut.value_or(Cut{elements, std::min(balanced, elements)});
}

LayoutPtr Layouts::of(const TensorType& type, const LayoutWish& wish) {
  if (wish.table) return of_table(type, wish);
  const Cut cut = cut_of(type.shape, wish);
  const std::int64_t elements = type.elements();
  LayoutPtr& layout = by_cut_[{elements, cut, wish.company}];
  if (layout) return layout;
  std::vector<Interval> intervals;
  for (std::int64_t begin = 0; begin < elements;) {
    const std::int64_t row_end = begin / cut.row * cut.row + cut.row;
    intervals.push_back({begin, std::min(cut.part, row_end - begin), {}});
    begin = intervals.back().end();
  }
  const std::uint32_t first = take_tiles(static_cast<std::uint32_t>(intervals.size()));
  for (std::uint32_t i = 0; i < intervals.size(); ++i) {
    intervals[i].tiles = {TileId{(first + i) % tiles_}};
  }
  return layout = with(std::move(intervals));
}

std::int64_t Layouts::most_on_a_tile(const TensorType& type, const LayoutWish& wish) const {
  if (!wish.table) return cut_of(type.shape, wish).part;
  const auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  return table_cut(*wish.table, bytes, tiles_, tile_bytes_, wish.is_read_whole).elements();
}

/// Its blocks begin on the tile where what an offset names would begin.
LayoutPtr Layouts::of_table(const TensorType& type, const LayoutWish& wish) {
  const TableUse& use = *wish.table;
  const Table& table = use.table;
  const auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  const TableCut cut = table_cut(use, bytes, tiles_, tile_bytes_, wish.is_read_whole);
  const LayoutPtr one =
      of({type.dtype, {table.batches() * table.width()}}, {.company = wish.company});
  const std::uint32_t first = index(one->intervals().front().tiles.front());
  // Windows are on the first of the tiles that have the same columns of the table.
  const std::int64_t step = wish.is_windows ? cut.position_blocks(table) : 1;
  std::vector<std::vector<TileId>> tiles;
  for (std::int64_t i = 0; i < cut.blocks(table); i += step) {
    tiles.push_back({TileId{(first + static_cast<std::uint32_t>(i)) % tiles_}});
  }
  if (!wish.is_windows) return table_layout(*this, table, cut, std::move(tiles));
  return windows_layout(*this, table, cut, use.windows(), std::move(tiles));
}

LayoutPtr Layouts::with(std::vector<Interval> intervals, Order order) {
  LayoutPtr& layout = by_content_[{intervals, order}];
  if (!layout) layout = std::make_shared<const Layout>(std::move(intervals), std::move(order));
  return layout;
}

LayoutPtr Layouts::divided(const LayoutPtr& layout, std::int64_t factor) {
  if (!layout->is_row_major()) return nullptr;
  std::vector<Interval> intervals = layout->intervals();
  for (Interval& interval : intervals) {
    if (interval.begin % factor != 0 || interval.count % factor != 0) return nullptr;
    interval.begin /= factor;
    interval.count /= factor;
  }
  return with(std::move(intervals));
}

LayoutPtr Layouts::of_pairs(const LayoutPtr& parts) {
  if (!parts->is_row_major() || parts->elements() == 0) return nullptr;
  const std::int64_t count = parts->intervals()[0].count;
  std::vector<Interval> intervals = parts->intervals();
  for (Interval& interval : intervals) {
    const bool is_last = interval.end() == parts->elements();
    if (interval.count > count || (interval.count < count && !is_last)) return nullptr;
    interval.begin *= 2;
    interval.count = 2 * count;
  }
  const auto blocks = static_cast<std::int64_t>(intervals.size());
  return with(std::move(intervals), blocked_order({parts->elements(), 2},
                                                  {{0, blocks, count}, {1, 2, 1}, {0, count, 1}}));
}

LayoutPtr Layouts::everywhere() {
  if (everywhere_) return everywhere_;
  std::vector<TileId> tiles;
  for (std::uint32_t t = 0; t < tiles_; ++t) tiles.push_back(TileId{t});
  return everywhere_ = with({{0, 1, std::move(tiles)}});
}

std::uint32_t Layouts::take_tiles(std::uint32_t count) {
  // Other starts are even: two tiles of a pair serve the same tensor.
  const std::uint32_t first = (count == 1 ? next_tile_ : next_tile_ + next_tile_ % 2) % tiles_;
  next_tile_ = (first + count) % tiles_;
  return first;
}

Order blocked_order(const Shape& shape, const std::vector<OrderAxis>& axes) {
  Shape padded(shape.size(), 1);
  for (const OrderAxis& axis : axes) padded[axis.dimension] *= axis.size;
  // Elements get the numbers that they have among padded ones, these then their place in blocks.
  Box pad{0, 0, {}}, block{0, 0, {}};
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t from = 1, to = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    SUPERSTEP_CHECK(padded[d] >= shape[d], "the axes of an order cover its dimensions");
    pad.axes.push_back({shape[d], from, to});
    strides[d] = to;
    from *= shape[d];
    to *= padded[d];
  }
  std::int64_t place = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    block.axes.push_back({axis->size, axis->step * strides[axis->dimension], place});
    place *= axis->size;
  }
  Order order;
  if (padded != shape) order.push_back(simplified(std::move(pad)));
  block = simplified(std::move(block));
  if (block != simplified({0, 0, {{place, 1, 1}}})) order.push_back(std::move(block));
  return order;
}

bool lies_in_rows(const Layout& layout, std::int64_t row) {
  return std::ranges::all_of(layout.intervals(), [&](const Interval& interval) {
    return interval.begin / row == (interval.end() - 1) / row;
  });
}

}  // namespace superstep
