#include "compiler/lower/layout.h"

#include <algorithm>

#include "base/error.h"

namespace superstep {
namespace {

constexpr std::int64_t kGrain = 8;
constexpr std::int64_t kLeastPerTile = 32;

}  // namespace

Layout::Layout(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {
  for (std::uint32_t i = 0; i < intervals_.size(); ++i) {
    for (const TileId tile : intervals_[i].tiles) by_tile_.emplace_back(tile, i);
  }
  std::ranges::sort(by_tile_);
  for (std::size_t i = 1; i < by_tile_.size(); ++i) {
    SUPERSTEP_CHECK(by_tile_[i - 1].first != by_tile_[i].first, "a tile holds one interval");
  }
}

IntervalEnd Layout::interval_at(std::int64_t element) const {
  const auto after = std::ranges::upper_bound(intervals_, element, {}, &Interval::begin);
  const auto number = static_cast<std::size_t>(after - intervals_.begin()) - 1;
  return {number, intervals_[number].end()};
}

const Interval* Layout::on(TileId tile) const {
  const auto found =
      std::ranges::lower_bound(by_tile_, tile, {}, &std::pair<TileId, std::uint32_t>::first);
  if (found == by_tile_.end() || found->first != tile) return nullptr;
  return &intervals_[found->second];
}

LayoutPtr LinearLayouts::of(std::int64_t elements) {
  LayoutPtr& layout = layouts_[elements];
  if (layout) return layout;
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t per =
      std::max(kLeastPerTile, divide_up(divide_up(elements, tiles_), kGrain) * kGrain);
  const auto used = static_cast<std::uint32_t>(divide_up(elements, per));
  const std::uint32_t first = take_tiles(used);
  std::vector<Interval> intervals;
  for (std::uint32_t k = 0; k < used; ++k) {
    const std::int64_t begin = k * per;
    intervals.push_back({begin, std::min(per, elements - begin), {TileId{(first + k) % tiles_}}});
  }
  return layout = std::make_shared<const Layout>(std::move(intervals));
}

std::uint32_t LinearLayouts::take_tiles(std::uint32_t count) {
  const std::uint32_t first = next_tile_;
  // Starts stay even: two tiles of a pair serve the same tensor.
  next_tile_ = (next_tile_ + count + count % 2) % tiles_;
  return first;
}

}  // namespace superstep
