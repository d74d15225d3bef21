#include "compiler/ops/merge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/divide.h"
#include "compiler/lower/block_lowering.h"
#include "compiler/ops/verify.h"
#include "compiler/vertex/merge.h"

namespace superstep {
namespace {

/// Whole rows on each tile, or parts of one row.
LayoutPtr layout_of_result(BlockLowering& block, ValueId result, std::int64_t row,
                           std::int64_t key_words) {
  const LayoutPtr assigned = block.values.assigned().in_order(result);
  const auto is_whole = [&](std::int64_t unit) {
    return std::ranges::all_of(assigned->intervals(), [&](const Interval& interval) {
      return interval.begin % unit == 0 && interval.count % unit == 0;
    });
  };
  if (is_whole(row) || (lies_in_rows(*assigned, row) && is_whole(key_words))) return assigned;
  Layouts& layouts = block.builder.layouts();
  const std::int64_t elements = block.values.elements(result), rows = elements / row;
  const std::int64_t tiles = layouts.tiles();
  const std::int64_t part = rows < tiles ? divide_up(row / key_words, tiles / rows) * key_words
                                         : divide_up(rows, tiles) * row;
  std::vector<Interval> intervals;
  for (std::int64_t begin = 0; begin < elements;) {
    const std::int64_t end = rows < tiles ? begin / row * row + row : elements;
    intervals.push_back({begin, std::min(part, end - begin), {}});
    begin = intervals.back().end();
  }
  const auto count = static_cast<std::uint32_t>(intervals.size());
  const std::uint32_t first = layouts.take_tiles(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    intervals[i].tiles = {TileId{(first + i) % layouts.tiles()}};
  }
  return layouts.with(std::move(intervals));
}

/// The rows that hold what tiles have of the result.
LayoutPtr layout_of_rows(Layouts& layouts, const Layout& result, std::int64_t row) {
  std::vector<Interval> intervals;
  for (const Interval& interval : result.intervals()) {
    const std::int64_t begin = interval.begin / row * row;
    if (intervals.empty() || intervals.back().begin != begin) {
      intervals.push_back({begin, divide_up(interval.end(), row) * row - begin, {}});
    }
    intervals.back().tiles.push_back(interval.tiles[0]);
  }
  for (Interval& interval : intervals) std::ranges::sort(interval.tiles);
  return layouts.with(std::move(intervals));
}

}  // namespace

/// Every tile gets the rows of which it makes keys.
void lower_merge(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  ProgramBuilder& builder = block.builder;
  const ValueId result = op.results[0];
  const Shape& shape = values.type(result).shape;
  const std::int64_t length = shape[1], words = shape[2];
  const bool alternates = attribute<bool>(op, "alternates");
  const Origin origin = values.origin(op);
  const LayoutPtr layout = layout_of_result(block, result, length * words, words);
  const StoredValue rows = values.stored(
      op.operands[0], layout_of_rows(builder.layouts(), *layout, length * words), origin);
  const BufferId merged = values.add_storage(result, layout);
  ComputeSet set{.name = origin.name,
                 .operation = origin.operation,
                 .source = origin.source,
                 .codelet = builder.add_codelet("merge " + std::to_string(words),
                                                vertex::Merge{static_cast<std::uint32_t>(words)}),
                 .launches = {},
                 .reads = {rows.buffer},
                 .writes = {merged}};
  for (const Interval& interval : layout->intervals()) {
    const std::int64_t first = interval.begin / words, row = first / length;
    const vertex::Merge::State state{.rows = StateWord::address(rows.buffer),
                                     .length = length,
                                     .to = StateWord::address(merged),
                                     .first = first % length,
                                     .count = interval.count / words,
                                     .descends = alternates && row % 2 == 1,
                                     .alternates = alternates};
    set.launches.push_back({interval.tiles[0], state.words()});
  }
  const Time time = rows.time.next_round();
  builder.add_compute(time, std::move(set));
  values.set_stored(result, merged, time);
}

}  // namespace superstep
