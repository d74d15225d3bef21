#include <algorithm>
#include <utility>

#include "compiler/lower/elementwise.h"
#include "compiler/lower/indexed/placed_table.h"
#include "compiler/lower/indexed/put_vertex.h"
#include "compiler/lower/moves/copy_elements.h"
#include "compiler/ops/emit_graph.h"
#include "compiler/ops/take.h"

namespace superstep {
namespace {

/// Offsets from which on a tile that has a part of a table lists those of its part first, so that
/// not every worker looks at all of them [measured on bow: puts into 30,000 x 128 f16, 40,000 x 8
/// and 20,000 x 256 f32 take as long with lists as without for 24 offsets to within 6 %, 1.2 times
/// as long for 8 and 0.75 times for 64].
constexpr std::int64_t kManyOffsets = 24;

/// Lists of the offsets that each tile of a table needs.
BufferId list_offsets(BlockLowering& block, const PlacedTable& placed, const PlacedOffsets& offsets,
                      const Origin& origin) {
  ProgramBuilder& builder = block.builder;
  const std::uint32_t workers = builder.machine().tile.workers;
  const std::int64_t words =
      workers * vertex::SelectOffsets::list_words(offsets.count, std::int64_t{workers});
  std::vector<Interval> intervals;
  for (const TileId tile : placed.tiles) {
    intervals.push_back({static_cast<std::int64_t>(intervals.size()) * words, words, {tile}});
  }
  const BufferId lists =
      block.values.add_temporary(DType::kU32, builder.layouts().with(std::move(intervals)),
                                 origin.name + ".lists", origin.source);
  ComputeSet set{.name = origin.name + ".lists",
                 .operation = origin.operation,
                 .source = origin.source,
                 .codelet = builder.add_codelet("select offsets", vertex::SelectOffsets{workers}),
                 .launches = {},
                 .reads = {offsets.stored.buffer},
                 .writes = {lists}};
  for (std::size_t i = 0; i < placed.tiles.size(); ++i) {
    const vertex::SelectOffsets::State state{.lists = StateWord::address(lists),
                                             .offsets = offsets.address(builder, placed, i),
                                             .count = offsets.count,
                                             .first = placed.first_position(i),
                                             .positions = placed.positions(i),
                                             .table_positions = placed.table.positions()};
    set.launches.push_back({placed.tiles[i], state.words()});
  }
  builder.add_compute(offsets.stored.time.next_round(), std::move(set));
  return lists;
}

/// The share of a tile's memory above which windows that are all one constant are not stored
/// [assumed].
constexpr std::int64_t kConstantShare = 16;

/// The bits of all elements of windows that are combined as a constant of the code. What is only
/// moved is stored: that takes longer runs at a time.
std::optional<std::uint64_t> computed_with(const BlockLowering& block, const Op& op,
                                           std::size_t table, const PlacedTable& placed) {
  const ValueId windows = op.operands[op.results.size() + 1 + table];
  const TableUse use = table_of(op, block.graph);
  const auto element = static_cast<std::int64_t>(size_of(block.values.type(windows).dtype));
  const std::int64_t bytes = placed.cut.batches * use.positions() * placed.cut.width * element;
  const bool are_many = bytes > block.builder.machine().tile.memory_bytes / kConstantShare;
  if (!are_many || op.regions[0].ops().empty()) return std::nullopt;
  return block.values.repeated_bits(windows);
}

}  // namespace

vertex::Put::Sharing sharing_of(const Op& op, std::int64_t window, bool has_lists) {
  const auto unique = op.attributes.find("unique_indices");
  if (!has_lists && unique != op.attributes.end() && std::get<bool>(unique->second)) {
    return vertex::Put::Sharing::kOffsets;
  }
  return window == 1 ? vertex::Put::Sharing::kPositions : vertex::Put::Sharing::kNone;
}

vertex::Put put_vertex(const Graph& region, std::int64_t position_elements,
                       const std::vector<std::optional<std::uint64_t>>& windows) {
  vertex::Put put;
  std::vector<vertex::Node> arguments;
  for (const ValueId argument : region.arguments()) {
    const DType dtype = region.type(argument).dtype;
    const std::size_t i = arguments.size(), tables = region.results().size();
    const bool is_known = i >= tables && !windows.empty() && windows[i - tables];
    arguments.push_back(is_known ? put.expression.constant(dtype, *windows[i - tables])
                                 : put.expression.input(static_cast<std::uint32_t>(i), dtype));
  }
  put.outputs = emit_graph(region, put.expression, arguments);
  for (const ValueId result : region.results()) put.dtypes.push_back(region.type(result).dtype);
  const auto bytes = static_cast<std::int64_t>(size_of(put.dtypes[0]));
  if (put.dtypes.size() == 1 && position_elements * bytes % 8 == 0) put.unit_bytes = 8;
  return put;
}

/// Every tile combines what the offsets name of its block, in the storage of the results, to which
/// tables are copied. Copies are late, so that who reads a table before does not keep it from being
/// the storage itself.
void lower_put(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  ProgramBuilder& builder = block.builder;
  const Origin origin = values.origin(op);
  const std::size_t count = op.results.size();
  const auto bytes_of = [&](ValueId v) { return size_of(values.type(v).dtype); };
  // Whole words of the narrowest table are whole words of all.
  const auto narrowest = static_cast<std::size_t>(
      std::ranges::min_element(op.results, {}, bytes_of) - op.results.begin());
  const TableUse use = table_of(op, block.graph);
  const PlacedTable placed = place_table(block, op.operands[narrowest], op.results[narrowest], use);
  const LayoutPtr layout = placed.layout(builder.layouts());
  const PlacedOffsets offsets = place_offsets(block, op.operands[count], placed, origin);
  Time ready = offsets.stored.time;
  std::vector<vertex::Put::Value> addresses;
  std::vector<std::optional<std::uint64_t>> known;
  ComputeSet set{.name = origin.name,
                 .operation = origin.operation,
                 .source = origin.source,
                 .launches = {},
                 .reads = {offsets.stored.buffer},
                 .writes = {}};
  std::vector<std::optional<BufferId>> tables;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId windows = op.operands[count + 1 + i];
    known.push_back(computed_with(block, op, i, placed));
    StateWord runs;
    if (!known.back()) {
      const StoredValue stored = values.stored(
          windows, placed.windows(builder.layouts(), values.type(windows).shape), origin);
      ready = std::max(ready, stored.time);
      set.reads.push_back(stored.buffer);
      runs = StateWord::address(stored.buffer);
    }
    tables.emplace_back();
    if (!values.repeated_bits(op.operands[i])) {
      const StoredValue table = values.stored(op.operands[i], layout, origin);
      tables.back() = table.buffer;
      ready = std::max(ready, table.time);
    }
    set.writes.push_back(values.add_storage(op.results[i], layout));
    addresses.push_back({StateWord::address(set.writes[i]), runs});
  }
  set.reads.insert(set.reads.end(), set.writes.begin(), set.writes.end());
  const Time time = ready.next_round();
  for (std::size_t i = 0; i < count; ++i) {
    if (tables[i]) {
      copy_elements(builder, *tables[i], set.writes[i], time);
      block.updates.emplace_back(*tables[i], set.writes[i]);
    } else {
      fill_elements(builder, set.writes[i], *values.repeated_bits(op.operands[i]), time);
    }
    values.set_stored(op.results[i], set.writes[i], time);
  }
  vertex::Put put = put_vertex(op.regions[0], placed.cut.width, known);
  StateWord lists;
  if (placed.is_cut_by_position() && offsets.count >= kManyOffsets) {
    put.lists = builder.machine().tile.workers;
    set.reads.push_back(list_offsets(block, placed, offsets, origin));
    lists = StateWord::address(set.reads.back());
  }
  for (std::size_t i = 0; i < placed.tiles.size(); ++i) {
    const vertex::Put::State state{.offsets = offsets.address(builder, placed, i),
                                   .lists = lists,
                                   .groups = placed.batches(i),
                                   .offsets_a_group = offsets.count,
                                   .first = placed.first_position(i),
                                   .positions = placed.positions(i),
                                   .table_positions = use.table.positions(),
                                   .position_elements = placed.cut.width,
                                   .run_elements = use.window * placed.cut.width,
                                   .sharing = sharing_of(op, use.window, put.lists > 0),
                                   .values = addresses};
    set.launches.push_back({placed.tiles[i], state.words()});
  }
  set.flops =
      useful_flops(op, arithmetic_on_floats(put.expression) *
                           static_cast<std::uint64_t>(values.elements(op.operands[count + 1])));
  const std::string key = "put " + std::to_string(put.unit_bytes) +
                          (put.lists > 0 ? " of lists " : " ") +
                          expression_key(put.expression, put.outputs);
  set.codelet = builder.add_codelet(key, std::move(put));
  builder.add_compute(time, std::move(set));
}

}  // namespace superstep
