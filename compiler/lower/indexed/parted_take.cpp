#include "compiler/lower/indexed/parted_take.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/divide.h"
#include "compiler/cost/launch_costs.h"
#include "compiler/cost/reduce_costs.h"
#include "compiler/lower/reductions/reduce.h"
#include "compiler/ops/take.h"

namespace superstep {
namespace {

/// How offsets are served: `merged` neighbouring blocks of the table on a tile, in `copies`; each
/// of the tiles that hold one copy gives `share` windows in the end.
struct Service {
  std::int64_t merged = 1, groups = 1, copies = 1, share = 1;

  /// Offsets that each copy looks up.
  [[nodiscard]] std::int64_t offsets() const { return groups * share; }
};

class PartedTake {
 public:
  PartedTake(BlockLowering& block, const Op& op, const PlacedTable& placed,
             const StoredValue& table)
      : values_(block.values),
        builder_(block.builder),
        placed_(placed),
        offsets_(op.operands[1]),
        result_(op.results[0]),
        origin_(block.values.origin(op)),
        table_(table),
        count_(values_.elements(offsets_)),
        parts_(placed.cut.position_blocks(placed.table)),
        columns_(placed.cut.rest_blocks(placed.table)),
        element_bytes_(static_cast<std::int64_t>(size_of(values_.type(result_).dtype))),
        words_(placed.cut.width * element_bytes_ / 4),
        take_whole_(builder_.machine(), take_of(false).code(builder_.machine())),
        take_part_(builder_.machine(), take_of(true).code(builder_.machine())),
        combine_(builder_.machine(), any_.reduce, false, true),
        service_(best_service()) {}

  void run() {
    gather_table();
    const BufferId result = values_.add_storage(result_, result_layout());
    const bool is_whole = service_.groups == 1;
    const BufferId found = is_whole ? result : add_words(service_.offsets(), ".candidates");
    Time time = look_up(found);
    if (!is_whole) time = combine(found, result, time);
    values_.set_stored(result_, result, time);
  }

 private:
  [[nodiscard]] vertex::Take take_of(bool has_part) const {
    return {words_ % 2 == 0 ? 8U : 4U, has_part};
  }
  /// The tile that serves offsets of a copy from a group of blocks.
  [[nodiscard]] TileId tile(std::int64_t column, std::int64_t group, std::int64_t copy) const {
    return placed_
        .tiles[static_cast<std::size_t>(column * parts_ + group * service_.copies + copy)];
  }
  void for_each_tile(const auto& visit) const {
    for (std::int64_t column = 0; column < columns_; ++column) {
      for (std::int64_t copy = 0; copy < used_copies(); ++copy) {
        for (std::int64_t group = 0; group < service_.groups; ++group) {
          visit(column, copy, group);
        }
      }
    }
  }
  /// Copies that have offsets.
  [[nodiscard]] std::int64_t used_copies() const { return divide_up(count_, service_.offsets()); }
  [[nodiscard]] std::int64_t group_positions() const {
    return service_.merged * placed_.cut.positions;
  }

  [[nodiscard]] Service service(std::int64_t merged) const {
    Service s{.merged = merged, .groups = divide_up(parts_, merged)};
    s.copies = parts_ / s.groups;
    s.share = divide_up(count_, s.copies * s.groups);
    return s;
  }

  [[nodiscard]] Service best_service() const {
    const std::int64_t most_bytes = builder_.machine().tile.memory_bytes / kGatheredShare;
    std::optional<Service> best;
    std::int64_t least = 0;
    for (std::int64_t merged = 1; merged <= parts_; ++merged) {
      const Service s = service(merged);
      if (merged > 1 && merged * placed_.cut.positions * words_ * 4 > most_bytes) break;
      const std::int64_t cycles = estimate(s);
      if (best && cycles >= least) continue;
      best = s;
      least = cycles;
    }
    return *best;
  }

  /// Phases for the table, offsets and candidates; launches to look up and to combine.
  [[nodiscard]] std::int64_t estimate(const Service& s) const {
    const Costs& costs = builder_.costs();
    const auto phase = [&](std::int64_t words) { return costs.phase() + costs.moved(words); };
    std::int64_t cycles = phase(s.offsets());
    if (s.merged > 1 || s.copies > 1) cycles += phase(s.merged * placed_.cut.positions * words_);
    const vertex::Take::State state{.to = {},
                                    .table = {},
                                    .offsets = {},
                                    .offsets_a_group = s.offsets(),
                                    .position_bytes = words_ * 4,
                                    .run_bytes = words_ * 4,
                                    .positions = s.merged * placed_.cut.positions};
    cycles += (s.groups > 1 ? take_part_ : take_whole_).cycles(state.words());
    if (s.groups > 1) {
      cycles += phase((s.groups - 1) * s.share * words_);
      cycles += combine_.cycles(s.share * words_, s.groups);
    }
    return cycles;
  }

  /// Blocks in storage follow each other, and so they do where they are gathered.
  void gather_table() {
    if (service_.merged == 1 && service_.copies == 1) return;
    const std::int64_t column = parts_ * placed_.cut.elements();
    const std::int64_t group = service_.merged * placed_.cut.elements();
    std::vector<Interval> intervals;
    for (std::int64_t c = 0; c < columns_; ++c) {
      for (std::int64_t g = 0; g < service_.groups; ++g) {
        Interval& interval =
            intervals.emplace_back(Interval{(c * service_.groups + g) * group, group, {}});
        for (std::int64_t k = 0; k < used_copies(); ++k) interval.tiles.push_back(tile(c, g, k));
        std::ranges::sort(interval.tiles);
      }
    }
    const StoredValue from = table_;
    table_.buffer = values_.add_temporary(values_.type(result_).dtype,
                                          builder_.layouts().with(std::move(intervals)),
                                          origin_.name + ".table", origin_.source);
    const Box box{0, 0, {{columns_, column, service_.groups * group}, {column, 1, 1}}};
    table_.time =
        move(builder_, table_.buffer, {{from.buffer, simplified(box)}}, from.time, origin_);
  }

  [[nodiscard]] LayoutPtr result_layout() {
    const Table windows = table_of_windows(placed_.table, values_.type(result_).shape);
    const TableCut cut{1, placed_.cut.width, service_.share};
    std::vector<std::vector<TileId>> tiles;
    for_each_tile([&](std::int64_t column, std::int64_t copy, std::int64_t group) {
      if (first_window(copy, group) < count_) tiles.push_back({tile(column, group, copy)});
    });
    return table_layout(builder_.layouts(), windows, cut, std::move(tiles));
  }
  /// The first window that a tile gives in the end.
  [[nodiscard]] std::int64_t first_window(std::int64_t copy, std::int64_t group) const {
    return (copy * service_.groups + group) * service_.share;
  }

  /// A buffer of words on each tile, for so many windows.
  [[nodiscard]] BufferId add_words(std::int64_t windows, const std::string& name) {
    std::vector<Interval> intervals;
    for_each_tile([&](std::int64_t column, std::int64_t copy, std::int64_t group) {
      const std::int64_t begin = intervals.empty() ? 0 : intervals.back().end();
      intervals.push_back({begin, windows * words_, {tile(column, group, copy)}});
    });
    return values_.add_temporary(DType::kU32, builder_.layouts().with(std::move(intervals)),
                                 origin_.name + name, origin_.source);
  }

  [[nodiscard]] ComputeSet set_of(std::string name) const {
    return {.name = std::move(name),
            .operation = origin_.operation,
            .source = origin_.source,
            .launches = {},
            .reads = {},
            .writes = {}};
  }

  [[nodiscard]] Time look_up(BufferId found) {
    std::vector<Interval> intervals(static_cast<std::size_t>(used_copies()));
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      const std::int64_t begin = static_cast<std::int64_t>(k) * service_.offsets();
      intervals[k] = {begin, std::min(service_.offsets(), count_ - begin), {}};
    }
    const std::vector<Interval> counts = intervals;
    for_each_tile([&](std::int64_t column, std::int64_t copy, std::int64_t group) {
      intervals[static_cast<std::size_t>(copy)].tiles.push_back(tile(column, group, copy));
    });
    for (Interval& interval : intervals) std::ranges::sort(interval.tiles);
    const StoredValue offsets =
        values_.stored(offsets_, builder_.layouts().with(std::move(intervals)), origin_);
    const vertex::Take take = take_of(service_.groups > 1);
    ComputeSet set = set_of(origin_.name);
    set.codelet = builder_.add_codelet(
        "take " + std::to_string(take.unit_bytes) + (take.has_part ? " of a part" : ""), take);
    set.reads = {table_.buffer, offsets.buffer};
    set.writes = {found};
    for_each_tile([&](std::int64_t column, std::int64_t copy, std::int64_t group) {
      const std::int64_t first = group * group_positions();
      const vertex::Take::State state{
          .to = StateWord::address(found),
          .table = StateWord::address(table_.buffer),
          .offsets = StateWord::address(offsets.buffer),
          .offsets_a_group = counts[static_cast<std::size_t>(copy)].count,
          .position_bytes = words_ * 4,
          .run_bytes = words_ * 4,
          .first = first,
          .positions = std::min(group_positions(), placed_.table.positions() - first)};
      set.launches.push_back({tile(column, group, copy), state.words()});
    });
    const Time time = std::max(table_.time, offsets.time).next_round();
    builder_.add_compute(time, std::move(set));
    return time;
  }

  /// Each tile gets what all groups of its copy found for its share of the windows: one of them is
  /// not zero.
  [[nodiscard]] Time combine(BufferId found, BufferId result, Time ready) {
    const BufferId gathered = add_words(service_.groups * service_.share, ".gathered");
    const std::int64_t share = service_.share * words_, groups = service_.groups;
    const Box box{0,
                  0,
                  {{columns_ * used_copies(), groups * groups * share, groups * groups * share},
                   {groups, share, groups * share},
                   {groups, groups * share, share},
                   {share, 1, 1}}};
    const Time time =
        move(builder_, gathered, {{found, simplified(box)}}, ready, origin_).next_round();
    ComputeSet set = set_of(origin_.name + ".combined");
    set.codelet = builder_.add_codelet(any_.key, any_.reduce);
    set.reads = {gathered};
    set.writes = {result};
    for_each_tile([&](std::int64_t column, std::int64_t copy, std::int64_t group) {
      if (first_window(copy, group) >= count_) return;
      const vertex::Reduce::State state{.outer = 1,
                                        .reduced = groups,
                                        .inner = share,
                                        .values = {{.constant = 0,
                                                    .initial = {},
                                                    .output = StateWord::address(result),
                                                    .input = StateWord::address(gathered)}}};
      set.launches.push_back({tile(column, group, copy), state.words()});
    });
    builder_.add_compute(time, std::move(set));
    return time;
  }

  Values& values_;
  ProgramBuilder& builder_;
  const PlacedTable& placed_;
  ValueId offsets_, result_;
  Origin origin_;
  StoredValue table_;
  std::int64_t count_, parts_, columns_, element_bytes_, words_;
  Combine any_ = combine_with(vertex::Primitive::kOr, DType::kU32);
  LaunchCosts take_whole_, take_part_;
  ReduceCosts combine_;
  Service service_;
};

}  // namespace

void lower_parted_take(BlockLowering& block, const Op& op, const PlacedTable& placed,
                       const StoredValue& table) {
  PartedTake(block, op, placed, table).run();
}

}  // namespace superstep
