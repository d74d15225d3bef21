#include "compiler/program/table_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/divide.h"
#include "compiler/cost/costs.h"

namespace superstep {
namespace {

constexpr std::int64_t kWordBytes = 4;
/// The share of a tile's memory above which a block of a table is cut again [assumed].
constexpr std::int64_t kTableShare = 8;
/// Positions that count for whether a block is worth a tile, where windows are used one at a time
/// but the table is read whole as often [chosen by device cycles on bow: chars takes 5.0 % less
/// with 4 than with 1, 3.2 % with 2; the decoder 9.3 and 6.4 %; 8 is as 4].
constexpr std::int64_t kPositionsReadWhole = 4;

std::int64_t to_whole(std::int64_t n, std::int64_t grain) { return divide_up(n, grain) * grain; }

/// Elements of the rest that a block has a multiple of: words, and 16 elements or more in fours, so
/// that they are words for every dtype.
std::int64_t grain_of(const Table& table, std::int64_t element_bytes) {
  constexpr std::int64_t kWide = 16;
  return table.width() >= kWide ? kWordBytes
                                : std::max<std::int64_t>(kWordBytes / element_bytes, 1);
}

/// Whether batches, positions and the rest come in this order in the tensor.
bool are_in_order(const Table& table) {
  std::vector<std::int64_t> dimensions = table.batching;
  for (const auto& more : {table.indexed, table.rest()}) {
    dimensions.insert(dimensions.end(), more.begin(), more.end());
  }
  return std::ranges::is_sorted(dimensions);
}

Order order_of(const Table& table, const TableCut& cut) {
  const std::int64_t rests = cut.rest_blocks(table), parts = cut.position_blocks(table);
  const std::int64_t positions = parts * cut.positions, padded = rests * cut.width;
  const bool are_rows_whole = padded == table.width() && rests == 1;
  const bool is_one_part = parts == 1 || cut.batches == 1;
  if (are_rows_whole && is_one_part && positions == table.positions() && are_in_order(table)) {
    return {};
  }
  std::vector<std::int64_t> strides(table.shape.size(), 1);
  for (std::size_t d = table.shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * table.shape[d];
  }
  // To [batch][rest, padded][position, padded].
  Box sorted{0, 0, {}};
  const auto append = [&](const std::vector<std::int64_t>& dimensions, std::int64_t unit) {
    Axes axes;
    for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
      const auto i = static_cast<std::size_t>(*d);
      axes.insert(axes.begin(), {table.shape[i], strides[i], unit});
      unit *= table.shape[i];
    }
    sorted.axes.insert(sorted.axes.end(), axes.begin(), axes.end());
  };
  append(table.batching, padded * positions);
  append(table.rest(), positions);
  append(table.indexed, 1);
  const std::int64_t part = cut.positions * cut.width, block = cut.elements();
  Box blocked{0,
              0,
              {{cut.batch_blocks(table), cut.batches * padded * positions, rests * parts * block},
               {rests, cut.width * positions, parts * block},
               {parts, cut.positions, block},
               {cut.batches, padded * positions, part},
               {cut.positions, 1, cut.width},
               {cut.width, positions, 1}}};
  Order order;
  const auto add = [&](Box box) {
    const std::int64_t elements = box.elements();
    box = simplified(std::move(box));
    if (box != simplified({0, 0, {{elements, 1, 1}}})) order.push_back(std::move(box));
  };
  add(std::move(sorted));
  add(std::move(blocked));
  return order;
}

}  // namespace

std::int64_t TableCut::batch_blocks(const Table& table) const {
  return divide_up(table.batches(), batches);
}
std::int64_t TableCut::rest_blocks(const Table& table) const {
  return divide_up(table.width(), width);
}
std::int64_t TableCut::position_blocks(const Table& table) const {
  return divide_up(table.positions(), positions);
}
std::int64_t TableCut::batches_of(const Table& table, std::int64_t batch_block) const {
  return std::min(batches, table.batches() - batch_block * batches);
}

TableCut table_cut(const Table& table, std::int64_t element_bytes, std::int64_t least_elements,
                   std::int64_t tiles, std::int64_t most_bytes) {
  const std::int64_t width = table.width(), batches = table.batches();
  const std::int64_t positions = table.positions(), grain = grain_of(table, element_bytes);
  const std::int64_t most = most_bytes / (positions * element_bytes) / grain * grain;
  const std::int64_t share = std::max(least_elements, divide_up(batches * width, tiles));
  const std::int64_t whole = to_whole(width, grain);
  if (most == 0 && batches == 1) {
    const std::int64_t columns = std::min(divide_up(width, grain), tiles);
    return {1, to_whole(divide_up(width, columns), grain), divide_up(positions, tiles / columns)};
  }
  if (whole <= share && whole <= most) {
    // No more blocks than tiles, whatever a block takes then.
    const std::int64_t least = std::max<std::int64_t>(divide_up(batches, tiles), 1);
    const std::int64_t wanted = std::max(share / whole, least);
    return {std::clamp(std::min(wanted, most / whole), least, std::max(batches, least)), whole,
            positions};
  }
  if (batches >= tiles) return {divide_up(batches, tiles), whole, positions};
  const std::int64_t parts =
      std::clamp(std::max(divide_up(width, share), divide_up(width, std::max(most, grain))),
                 std::int64_t{1}, tiles / batches);
  return {1, to_whole(divide_up(width, parts), grain), positions};
}

TableCut table_cut(const TableUse& use, std::int64_t element_bytes, std::int64_t tiles,
                   std::int64_t tile_bytes, bool is_read_whole) {
  // One window at a time lies as it would by itself.
  const std::int64_t positions = use.table.positions();
  const std::int64_t counted = use.count > 1   ? positions
                               : is_read_whole ? std::min(positions, kPositionsReadWhole)
                                               : 1;
  return table_cut(use.table, element_bytes,
                   divide_up(Costs::kLeastPerTile, std::max(use.positions(), counted)), tiles,
                   tile_bytes / kTableShare);
}

LayoutPtr table_layout(Layouts& layouts, const Table& table, const TableCut& cut,
                       std::vector<std::vector<TileId>> tiles) {
  const std::int64_t size = cut.elements();
  std::vector<Interval> intervals;
  for (std::vector<TileId>& copies : tiles) {
    std::ranges::sort(copies);
    const auto i = static_cast<std::int64_t>(intervals.size());
    intervals.push_back({i * size, size, std::move(copies)});
  }
  return layouts.with(std::move(intervals), order_of(table, cut));
}

Table table_of_windows(const Table& table, const Shape& windows) {
  Table all{windows, std::vector<std::int64_t>(table.batching.size()), {}};
  std::iota(all.batching.begin(), all.batching.end(), 0);
  const auto count = static_cast<std::int64_t>(table.batching.size());
  all.indexed = {count, count + 1};
  return all;
}

LayoutPtr windows_layout(Layouts& layouts, const Table& table, const TableCut& cut,
                         const Shape& windows, std::vector<std::vector<TileId>> tiles) {
  const Table all = table_of_windows(table, windows);
  return table_layout(layouts, all, {cut.batches, cut.width, all.positions()}, std::move(tiles));
}

std::optional<TableCut> cut_in(const Layout& layout, const Table& table,
                               std::int64_t element_bytes) {
  const std::int64_t size = layout.intervals().front().count;
  const std::int64_t positions = table.positions();
  const auto is_other = [&](const Interval& i) { return i.count != size || i.tiles.size() != 1; };
  if (std::ranges::any_of(layout.intervals(), is_other)) return std::nullopt;
  const auto blocks = static_cast<std::int64_t>(layout.intervals().size());
  const auto is_it = [&](const TableCut& cut) {
    return cut.elements() == size && cut.batches <= table.batches() &&
           cut.width * element_bytes % kWordBytes == 0 && cut.blocks(table) == blocks &&
           layout.order() == order_of(table, cut);
  };
  const std::int64_t grain = grain_of(table, element_bytes);
  const std::int64_t whole = to_whole(table.width(), grain);
  if (const TableCut cut{size / positions / whole, whole, positions};
      cut.batches > 0 && is_it(cut)) {
    return cut;
  }
  if (const TableCut cut{1, size / positions, positions}; cut.width > 0 && is_it(cut)) return cut;
  if (table.batches() > 1) return std::nullopt;
  for (std::int64_t parts = 1; parts <= std::min(blocks, divide_up(table.width(), grain));
       ++parts) {
    const std::int64_t width = to_whole(divide_up(table.width(), parts), grain);
    if (const TableCut cut{1, width, size / width}; cut.positions > 0 && is_it(cut)) return cut;
  }
  return std::nullopt;
}

}  // namespace superstep
