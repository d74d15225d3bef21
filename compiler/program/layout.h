#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"
#include "compiler/cost/costs.h"
#include "compiler/ops/table.h"
#include "compiler/program/box.h"
#include "isa/machine_config.h"

namespace superstep {

/// A run of consecutive elements and the tiles that each hold a copy of it.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::vector<TileId> tiles;  ///< ascending

  [[nodiscard]] std::int64_t end() const { return begin + count; }
  auto operator<=>(const Interval&) const = default;
};

/// The order in which a tensor's elements are stored: each box copies all row-major elements, or
/// what the box before it makes of them, to other numbers; the last to those of storage. Numbers
/// that no element gets are padding. Without boxes it is row-major.
using Order = std::vector<Box>;

/// Where the elements of a buffer are: intervals of their numbers in storage. A tile holds at most
/// one interval, contiguous and 8-byte aligned.
class Layout {
 public:
  explicit Layout(std::vector<Interval> intervals, Order order = {});

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] bool is_row_major() const { return order_.empty(); }
  /// Of storage, padding too.
  [[nodiscard]] std::int64_t elements() const {
    return intervals_.empty() ? 0 : intervals_.back().end();
  }
  [[nodiscard]] IntervalEnd interval_at(std::int64_t element) const;
  /// The copies that do to the elements in storage what `box` does to row-major ones: these are its
  /// sources.
  [[nodiscard]] std::vector<Box> from_storage(const Box& box) const;
  /// The same for a box whose destinations are row-major elements.
  [[nodiscard]] std::vector<Box> to_storage(const Box& box) const;
  /// Copies of all `elements` from storage to row-major order, each from one interval.
  struct Part {
    std::size_t interval;
    Box box;
  };
  [[nodiscard]] std::vector<Part> parts(std::int64_t elements) const;
  /// The interval that `tile` holds, or null.
  [[nodiscard]] const Interval* on(TileId tile) const;

 private:
  std::vector<Interval> intervals_;  ///< ascending, without gaps
  Order order_;
  std::vector<std::pair<TileId, std::uint32_t>> by_tile_;  ///< ascending tiles
};

using LayoutPtr = std::shared_ptr<const Layout>;

/// What the users of a tensor ask of its layout.
struct LayoutWish {
  /// Rows of so many elements stay whole even if a tile then holds half as much again as its share,
  /// not only a quarter; 0: none.
  std::int64_t row = 0;
  /// Elements on a tile, at least.
  std::int64_t least = Costs::kLeastPerTile;
  /// Tensors that are cut alike share tiles in one company; each company has tiles of its own.
  std::uint32_t company = 0;
  /// Positions stay whole on each tile.
  std::optional<TableUse> table = {};
  bool is_windows = false;  ///< of the table, not the table itself
  /// Something else reads the table in each trip in which it is indexed.
  bool is_read_whole = false;
};

/// The layouts of tensors. Equal layouts are one object, so that a pointer tells whether two
/// tensors lie alike, and elementwise ops between those need no exchange.
class Layouts {
 public:
  explicit Layouts(const MachineConfig& machine)
      : tiles_(machine.tiles()), tile_bytes_(machine.tile.memory_bytes), costs_(machine) {}

  /// Where a tensor lies when nothing else decides: evenly on as many tiles as are worth their
  /// exchange, in intervals that are whole rows or lie inside one row where that balances. Tensors
  /// of equal element count, cut and company share a layout.
  LayoutPtr of(const TensorType& type, const LayoutWish& wish = {});
  /// The layout with these intervals.
  LayoutPtr with(std::vector<Interval> intervals, Order order = {});
  /// The elements of `of` on the tile that has most.
  [[nodiscard]] std::int64_t most_on_a_tile(const TensorType& type, const LayoutWish& wish) const;
  [[nodiscard]] const Costs& costs() const { return costs_; }
  /// The layout of what remains when every `factor` consecutive elements become one; null when an
  /// interval has a part of such a row, or rows are no neighbours.
  LayoutPtr divided(const LayoutPtr& layout, std::int64_t factor);
  /// The layout of pairs whose parts lie like `parts`: on each tile the first ones, then the second
  /// ones. Null unless `parts` has elements, is row-major and cut into equal intervals, but for the
  /// last.
  LayoutPtr of_pairs(const LayoutPtr& parts);
  /// That of one element of which every tile has a copy.
  LayoutPtr everywhere();

  /// `count` consecutive tiles for something else, so that small things do not pile up on the first
  /// tiles.
  std::uint32_t take_tiles(std::uint32_t count);
  [[nodiscard]] std::uint32_t tiles() const { return tiles_; }

 private:
  /// Elements of an interval; intervals start anew with every row of `row` elements.
  struct Cut {
    std::int64_t row = 1;
    std::int64_t part = 1;
    auto operator<=>(const Cut&) const = default;
  };
  [[nodiscard]] Cut cut_of(const Shape& shape, const LayoutWish& wish) const;

  LayoutPtr of_table(const TensorType& type, const LayoutWish& wish);

  std::uint32_t tiles_;
  std::int64_t tile_bytes_;
  Costs costs_;
  std::uint32_t next_tile_ = 0;
  std::map<std::tuple<std::int64_t, Cut, std::uint32_t>, LayoutPtr> by_cut_;
  LayoutPtr everywhere_;
  std::map<std::pair<std::vector<Interval>, Order>, LayoutPtr> by_content_;
};

/// An axis of blocks: `size` steps of `step` along one dimension of a tensor.
struct OrderAxis {
  std::size_t dimension = 0;
  std::int64_t size = 1, step = 1;
};

/// The order of a row-major tensor of `shape` that is cut into blocks: storage is the row-major
/// index space of `axes`. The axes of a dimension cover it, each the steps of the next; what they
/// have beyond is padding.
[[nodiscard]] Order blocked_order(const Shape& shape, const std::vector<OrderAxis>& axes);

/// Whether no interval goes across the end of a row of `row` elements.
[[nodiscard]] bool lies_in_rows(const Layout& layout, std::int64_t row);

}  // namespace superstep
