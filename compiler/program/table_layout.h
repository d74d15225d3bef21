#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ops/table.h"
#include "compiler/program/layout.h"

namespace superstep {

/// How a table is cut over tiles: every block has all positions, or some, of some elements of the
/// rest of one batch, or of some whole batches. Storage is [batch block][rest block][position
/// block] [batch][position][element of the rest], one block a tile.
struct TableCut {
  std::int64_t batches = 1;    ///< of a block; more than one only with the whole rest
  std::int64_t width = 1;      ///< elements of the rest in a block, padding too
  std::int64_t positions = 1;  ///< of a block; not all of them only where there is one batch

  [[nodiscard]] std::int64_t batch_blocks(const Table& table) const;
  [[nodiscard]] std::int64_t rest_blocks(const Table& table) const;
  [[nodiscard]] std::int64_t position_blocks(const Table& table) const;
  [[nodiscard]] std::int64_t blocks(const Table& table) const {
    return batch_blocks(table) * rest_blocks(table) * position_blocks(table);
  }
  /// Elements of a block, padding too.
  [[nodiscard]] std::int64_t elements() const { return batches * positions * width; }
  /// Batches of a block that there are.
  [[nodiscard]] std::int64_t batches_of(const Table& table, std::int64_t batch_block) const;
  auto operator<=>(const TableCut&) const = default;
};

/// Evenly over at most `tiles`, in whole words. Where a block would take more than `most_bytes`, it
/// has less of the rest; where a word of it would, less positions.
[[nodiscard]] TableCut table_cut(const Table& table, std::int64_t element_bytes,
                                 std::int64_t least_elements, std::int64_t tiles,
                                 std::int64_t most_bytes);

/// The same of a use, so that windows on a tile, or of many the table, have as many elements as are
/// worth it, and a table takes as much of its memory as it may. Less of the rest on more tiles
/// where the table is read whole as often as its windows are used.
[[nodiscard]] TableCut table_cut(const TableUse& use, std::int64_t element_bytes,
                                 std::int64_t tiles, std::int64_t tile_bytes,
                                 bool is_read_whole = false);

/// The layout with copies of block i on `tiles[i]`.
[[nodiscard]] LayoutPtr table_layout(Layouts& layouts, const Table& table, const TableCut& cut,
                                     std::vector<std::vector<TileId>> tiles);
/// The windows of a take or put as a table: their count and size are indexed.
[[nodiscard]] Table table_of_windows(const Table& table, const Shape& windows);
/// The layout of all windows of a table that is cut so, with copies of those of its block i, were
/// it not cut by position, on `tiles[i]`.
[[nodiscard]] LayoutPtr windows_layout(Layouts& layouts, const Table& table, const TableCut& cut,
                                       const Shape& windows,
                                       std::vector<std::vector<TileId>> tiles);
/// How a layout cuts a table; nothing when it is not such a layout, or its blocks have parts of
/// words.
[[nodiscard]] std::optional<TableCut> cut_in(const Layout& layout, const Table& table,
                                             std::int64_t element_bytes);

}  // namespace superstep
