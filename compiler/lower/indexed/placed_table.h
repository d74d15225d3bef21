#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/block_lowering.h"
#include "compiler/ops/table.h"
#include "compiler/program/table_layout.h"

namespace superstep {

/// How a table is cut and on which tiles its blocks are.
struct PlacedTable {
  Table table;
  TableCut cut;
  std::vector<TileId> tiles;  ///< by block

  [[nodiscard]] LayoutPtr layout(Layouts& layouts) const;
  /// The layout of windows of a take or put, of `shape`: each tile has those of its batches and
  /// elements of the rest.
  [[nodiscard]] LayoutPtr windows(Layouts& layouts, const Shape& shape) const;
  /// What a block has of the table.
  [[nodiscard]] std::int64_t first_batch(std::size_t block) const;
  [[nodiscard]] std::int64_t batches(std::size_t block) const;
  [[nodiscard]] std::int64_t first_position(std::size_t block) const;
  [[nodiscard]] std::int64_t positions(std::size_t block) const;
  [[nodiscard]] bool is_cut_by_position() const { return cut.positions < table.positions(); }
};

/// Where the table `v` is, if it is cut like a table, else where it or `result` is to lie; windows
/// are to be whole on one tile.
[[nodiscard]] PlacedTable place_table(BlockLowering& block, ValueId v, ValueId result,
                                      const TableUse& use);

/// The offsets that each tile of a table needs.
struct PlacedOffsets {
  StoredValue stored;
  std::int64_t count = 0;  ///< of a batch

  /// Where those of a block are.
  [[nodiscard]] StateWord address(const ProgramBuilder& builder, const PlacedTable& table,
                                  std::size_t block) const;
};
/// Those of the table that `reader` reads or writes.
[[nodiscard]] PlacedOffsets place_offsets(BlockLowering& block, ValueId offsets,
                                          const PlacedTable& table, const Origin& reader);

}  // namespace superstep
