#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/units.h"
#include "compiler/lower/box.h"
#include "isa/machine_config.h"

namespace superstep {

/// A run of consecutive elements and the tiles that each hold a copy of it.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::vector<TileId> tiles;  ///< ascending

  [[nodiscard]] std::int64_t end() const { return begin + count; }
};

/// Where the flattened elements of a buffer are. A tile holds at most one interval, contiguous and
/// 8-byte aligned.
class Layout {
 public:
  explicit Layout(std::vector<Interval> intervals);

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] std::int64_t elements() const {
    return intervals_.empty() ? 0 : intervals_.back().end();
  }
  [[nodiscard]] IntervalEnd interval_at(std::int64_t element) const;
  /// The interval that `tile` holds, or null.
  [[nodiscard]] const Interval* on(TileId tile) const;

 private:
  std::vector<Interval> intervals_;                        ///< ascending, without gaps
  std::vector<std::pair<TileId, std::uint32_t>> by_tile_;  ///< ascending tiles
};

using LayoutPtr = std::shared_ptr<const Layout>;

/// The linear mapping: tensors of equal element count share one, so that elementwise ops between
/// them need no exchange.
class LinearLayouts {
 public:
  explicit LinearLayouts(const MachineConfig& machine) : tiles_(machine.tiles()) {}

  /// Contiguous intervals of equal length, a multiple of 8 elements (8 bytes of any dtype), at
  /// least 32 elements a tile.
  LayoutPtr of(std::int64_t elements);
  /// `count` consecutive tiles for something else, so that small things do not pile up on the first
  /// tiles.
  std::uint32_t take_tiles(std::uint32_t count);
  [[nodiscard]] std::uint32_t tiles() const { return tiles_; }

 private:
  std::uint32_t tiles_;
  std::uint32_t next_tile_ = 0;
  std::map<std::int64_t, LayoutPtr> layouts_;
};

}  // namespace superstep
