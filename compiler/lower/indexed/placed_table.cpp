#include "compiler/lower/indexed/placed_table.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace superstep {
namespace {

std::optional<PlacedTable> placed_in(const LayoutPtr& layout, const Table& table, DType dtype,
                                     std::int64_t window) {
  if (!layout) return std::nullopt;
  const auto cut = cut_in(*layout, table, static_cast<std::int64_t>(size_of(dtype)));
  if (!cut || (window > 1 && cut->positions < table.positions())) return std::nullopt;
  PlacedTable placed{table, *cut, {}};
  for (const Interval& interval : layout->intervals()) placed.tiles.push_back(interval.tiles[0]);
  return placed;
}

}  // namespace

LayoutPtr PlacedTable::layout(Layouts& layouts) const {
  std::vector<std::vector<TileId>> copies;
  for (const TileId tile : tiles) copies.push_back({tile});
  return table_layout(layouts, table, cut, std::move(copies));
}

LayoutPtr PlacedTable::windows(Layouts& layouts, const Shape& shape) const {
  const std::int64_t parts = cut.position_blocks(table);
  std::vector<std::vector<TileId>> copies(static_cast<std::size_t>(cut.blocks(table) / parts));
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    copies[i / static_cast<std::size_t>(parts)].push_back(tiles[i]);
  }
  return windows_layout(layouts, table, cut, shape, std::move(copies));
}

std::int64_t PlacedTable::first_batch(std::size_t block) const {
  return static_cast<std::int64_t>(block) / cut.position_blocks(table) / cut.rest_blocks(table) *
         cut.batches;
}

std::int64_t PlacedTable::batches(std::size_t block) const {
  return cut.batches_of(table, first_batch(block) / cut.batches);
}

std::int64_t PlacedTable::first_position(std::size_t block) const {
  return static_cast<std::int64_t>(block) % cut.position_blocks(table) * cut.positions;
}

std::int64_t PlacedTable::positions(std::size_t block) const {
  return std::min(cut.positions, table.positions() - first_position(block));
}

PlacedTable place_table(BlockLowering& block, ValueId v, ValueId result, const TableUse& use) {
  const Table& table = use.table;
  const Values& values = block.values;
  const TensorType& type = values.type(v);
  Layouts& layouts = block.builder.layouts();
  for (const LayoutPtr& layout : {values.layout(v), values.assigned().of(result),
                                  values.assigned().of(v), layouts.of(type, {.table = use})}) {
    if (auto placed = placed_in(layout, table, type.dtype, use.window)) return *placed;
  }
  // Too large for a tile, or its windows are: that shows when it is placed.
  PlacedTable whole{table,
                    table_cut(table, static_cast<std::int64_t>(size_of(type.dtype)), 1,
                              layouts.tiles(), std::numeric_limits<std::int64_t>::max()),
                    {}};
  const auto blocks = static_cast<std::uint32_t>(whole.cut.blocks(table));
  const std::uint32_t first = layouts.take_tiles(blocks);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    whole.tiles.push_back(TileId{(first + i) % layouts.tiles()});
  }
  return whole;
}

StateWord PlacedOffsets::address(const ProgramBuilder& builder, const PlacedTable& table,
                                 std::size_t block) const {
  const Interval* there = builder.buffer(stored.buffer).layout->on(table.tiles[block]);
  return StateWord::address(stored.buffer, 4 * (table.first_batch(block) * count - there->begin));
}

PlacedOffsets place_offsets(BlockLowering& block, ValueId offsets, const PlacedTable& table,
                            const Origin& reader) {
  Values& values = block.values;
  const std::int64_t count = values.elements(offsets) / table.table.batches();
  // Tiles that have blocks of the same batches get them together.
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < table.tiles.size(); ++i) {
    const std::int64_t begin = table.first_batch(i) * count;
    if (intervals.empty() || intervals.back().begin != begin) {
      intervals.push_back({begin, table.batches(i) * count, {}});
    }
    intervals.back().tiles.push_back(table.tiles[i]);
  }
  const auto has_its = [&](const Layout& layout) {
    return layout.is_row_major() && std::ranges::all_of(intervals, [&](const Interval& wanted) {
             return std::ranges::all_of(wanted.tiles, [&](TileId tile) {
               const Interval* there = layout.on(tile);
               return there != nullptr && there->begin <= wanted.begin &&
                      wanted.end() <= there->end();
             });
           });
  };
  if (const LayoutPtr layout = values.layout(offsets); layout && has_its(*layout)) {
    return {values.stored(offsets, layout, reader), count};
  }
  for (Interval& interval : intervals) std::ranges::sort(interval.tiles);
  return {values.stored(offsets, block.builder.layouts().with(std::move(intervals)), reader),
          count};
}

}  // namespace superstep
