#include "compiler/ops/take.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/indexed/parted_take.h"
#include "compiler/lower/indexed/placed_table.h"

namespace superstep {

/// Every tile takes what the offsets name of its block: nothing of the table moves.
void lower_take(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  ProgramBuilder& builder = block.builder;
  const ValueId result = op.results[0];
  const Origin origin = values.origin(op);
  const TableUse use = table_of(op, block.graph);
  const PlacedTable placed = place_table(block, op.operands[0], op.operands[0], use);
  const StoredValue table = values.stored(op.operands[0], placed.layout(builder.layouts()), origin);
  if (placed.is_cut_by_position()) return lower_parted_take(block, op, placed, table);
  const PlacedOffsets offsets = place_offsets(block, op.operands[1], placed, origin);
  const BufferId taken =
      values.add_storage(result, placed.windows(builder.layouts(), values.type(result).shape));
  const auto element = static_cast<std::int64_t>(size_of(values.type(result).dtype));
  const std::int64_t position = placed.cut.width * element;
  const std::uint32_t unit = position % 8 == 0 ? 8 : 4;
  ComputeSet set{.name = origin.name,
                 .operation = origin.operation,
                 .source = origin.source,
                 .codelet = builder.add_codelet("take " + std::to_string(unit), vertex::Take{unit}),
                 .launches = {},
                 .reads = {table.buffer, offsets.stored.buffer},
                 .writes = {taken}};
  for (std::size_t i = 0; i < placed.tiles.size(); ++i) {
    const vertex::Take::State state{.to = StateWord::address(taken),
                                    .table = StateWord::address(table.buffer),
                                    .offsets = offsets.address(builder, placed, i),
                                    .groups = placed.batches(i),
                                    .offsets_a_group = offsets.count,
                                    .group_bytes = placed.table.positions() * position,
                                    .position_bytes = position,
                                    .run_bytes = use.window * position};
    set.launches.push_back({placed.tiles[i], state.words()});
  }
  const Time time = std::max(table.time, offsets.stored.time).next_round();
  builder.add_compute(time, std::move(set));
  values.set_stored(result, taken, time);
}

}  // namespace superstep
