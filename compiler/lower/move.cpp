#include "compiler/lower/move.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "compiler/lower/move_plan.h"
#include "compiler/lower/pack.h"

namespace superstep {
namespace {

/// Transfers into one interval above which what they move is packed first [assumed]: their rows
/// take some 64 KiB on each tile.
constexpr std::int64_t kMostTransfers = 4096;
/// Commands that append to an interval above which that is so too [assumed].
constexpr std::int64_t kMostCommands = 1024;

/// Makes what `plan_moves` has planned part of the program.
class Mover {
 public:
  Mover(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces)
      : builder_(builder),
        destination_(destination),
        layout_(builder.buffer(destination).layout),
        element_bytes_(builder.buffer(destination).element_bytes),
        plans_(layout_->intervals().size()) {
    plan_moves(builder, destination, pieces, {0, plans_.size()},
               [&](std::size_t i, IntervalPlan plan) {
                 add_movements(i, plan);
                 plan.transfers = {};
                 plans_[i] = std::move(plan);
               });
  }

  Time run(Time ready, const Origin& origin) {
    add_receive_buffer(origin);
    const Time done = movements_.empty() ? ready.next_round() : ready.after_exchange();
    builder_.add_movements(done.superstep, origin, std::move(movements_));
    add_copies(done, origin);
    add_appended(done, origin);
    return done;
  }

 private:
  [[nodiscard]] const Interval& interval(std::size_t i) const { return layout_->intervals()[i]; }
  [[nodiscard]] BufferId actual(BufferId from) const {
    return from == kReceived ? received_ : from;
  }

  void add_receive_buffer(const Origin& origin) {
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].received_words == 0) continue;
      intervals.push_back({begin, plans_[i].received_words, interval(i).tiles});
      begin += plans_[i].received_words;
    }
    if (intervals.empty()) return;
    received_ = builder_.add_buffer({.name = origin.name + ".received",
                                     .type = {DType::kU32, {begin}},
                                     .element_bytes = 4,
                                     .layout = std::make_shared<const Layout>(std::move(intervals)),
                                     .contents = {},
                                     .source = origin.source});
    for (Movement& movement : movements_) {
      for (Movement::End& end : movement.destinations) end.buffer = actual(end.buffer);
    }
  }

  void add_movements(std::size_t i, const IntervalPlan& plan) {
    for (const IntervalPlan::Transfer& t : plan.transfers) {
      const auto& holders = builder_.buffer(t.source).layout->intervals()[t.source_interval].tiles;
      Movement& movement = movements_.emplace_back(
          Movement{{t.source, holders[i % holders.size()], static_cast<std::uint32_t>(t.from)},
                   {},
                   static_cast<std::uint32_t>(t.words)});
      movement.destinations.reserve(interval(i).tiles.size());
      for (const TileId tile : interval(i).tiles) {
        movement.destinations.push_back(
            {t.staged ? kReceived : destination_, tile, static_cast<std::uint32_t>(t.to)});
      }
    }
  }

  void append_rows(const Box& box, BufferId from, std::vector<StateWord>& table) const {
    append_boxes(box, [&](const BoxRow& row) {
      table.push_back(StateWord::address(destination_, row.to));
      table.push_back(StateWord::address(from, row.from));
      for (const auto field : {&Axis::size, &Axis::to, &Axis::from}) {
        for (const Axis& axis : row.axes) table.push_back(StateWord::number(axis.*field));
      }
      table.push_back(StateWord::number(0));
    });
  }

  void add_copies(Time time, const Origin& origin) {
    struct Tables {
      std::map<std::size_t, std::vector<StateWord>> by_interval;
      std::vector<BufferId> reads;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Tables> sets;  // by round and unit
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      for (const LocalCopy& copy : plans_[i].copies) {
        Box box = copy.box;
        const std::uint32_t unit = in_units(box, element_bytes_);
        Tables& set = sets[{copy.round, unit}];
        const BufferId from = actual(copy.from);
        if (std::ranges::find(set.reads, from) == set.reads.end()) set.reads.push_back(from);
        append_rows(box, from, set.by_interval[i]);
      }
    }
    for (auto& [key, set] : sets) {
      const std::uint32_t unit = key.second;
      ComputeSet compute{
          .name = origin.name + ".arrange",
          .operation = origin.operation,
          .source = origin.source,
          .codelet = builder_.add_codelet("copy " + std::to_string(unit), CopySpec{unit}),
          .launches = {},
          .reads = set.reads,
          .writes = {destination_}};
      for (const auto& [i, table] : set.by_interval) {
        std::vector<StateWord> state{
            StateWord::number(static_cast<std::int64_t>(table.size() / 12)), StateWord::own(8)};
        state.insert(state.end(), table.begin(), table.end());
        for (const TileId tile : interval(i).tiles) compute.launches.push_back({tile, state});
      }
      builder_.add_compute(time, std::move(compute));
    }
  }

  void add_appended(Time time, const Origin& origin) {
    ComputeSet compute{.name = origin.name + ".arrange",
                       .operation = origin.operation,
                       .source = origin.source,
                       .codelet = 0,
                       .launches = {},
                       .reads = {},
                       .writes = {destination_}};
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const std::vector<AppendedRows>& appended = plans_[i].appended;
      if (appended.empty()) continue;
      std::vector<StateWord> state{StateWord::address(destination_),
                                   StateWord::number(static_cast<std::int64_t>(appended.size())),
                                   StateWord::own(12)};
      for (const AppendedRows& rows : appended) {
        const BufferId from = actual(rows.from);
        if (std::ranges::find(compute.reads, from) == compute.reads.end()) {
          compute.reads.push_back(from);
        }
        state.push_back(StateWord::number(rows.rows));
        state.push_back(StateWord::number(rows.count));
        state.push_back(StateWord::address(from, rows.at));
        state.push_back(StateWord::number(rows.stride));
        state.push_back(StateWord::number(rows.row_stride));
      }
      for (const TileId tile : interval(i).tiles) compute.launches.push_back({tile, state});
    }
    if (compute.launches.empty()) return;
    const auto bytes = static_cast<std::uint32_t>(element_bytes_);
    compute.codelet = builder_.add_codelet("append " + std::to_string(bytes), AppendSpec{bytes});
    builder_.add_compute(time, std::move(compute));
  }

  ProgramBuilder& builder_;
  BufferId destination_;
  LayoutPtr layout_;
  std::int64_t element_bytes_;
  std::vector<IntervalPlan> plans_;  ///< without transfers
  std::vector<Movement> movements_;
  BufferId received_ = kReceived;
};

/// Whether an interval is filled by so many transfers, or commands, that their code and state count
/// more than another copy of what they move.
bool is_scattered(const ProgramBuilder& builder, BufferId destination,
                  const std::vector<Piece>& pieces) {
  const std::vector<Interval>& intervals = builder.buffer(destination).layout->intervals();
  const std::size_t middle = intervals.size() / 2;
  if (intervals[middle].count <= kMostTransfers) return false;
  bool is_scattered = false;
  plan_moves(builder, destination, pieces, {middle, middle + 1},
             [&](std::size_t, const IntervalPlan& plan) {
               is_scattered = std::ssize(plan.transfers) > kMostTransfers ||
                              std::ssize(plan.appended) > kMostCommands;
             });
  return is_scattered;
}

}  // namespace

Time move(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces,
          Time ready, const Origin& origin) {
  if (can_pack(pieces) && is_scattered(builder, destination, pieces)) {
    const Packing packing = pack(builder, pieces, origin);
    Time packed = ready;
    for (const Packing::Filled& filled : packing.filled) {
      const Time done = Mover(builder, filled.buffer, filled.pieces).run(ready, origin);
      packed = std::max(packed, done);
    }
    return Mover(builder, destination, packing.pieces).run(packed, origin);
  }
  return Mover(builder, destination, pieces).run(ready, origin);
}

}  // namespace superstep
