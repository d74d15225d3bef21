#include "compiler/lower/move.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "compiler/lower/move_plan.h"

namespace superstep {
namespace {

/// Makes what `plan_moves` has planned part of the program.
class Mover {
 public:
  Mover(ProgramBuilder& builder, BufferId destination, std::vector<IntervalPlan> plans)
      : builder_(builder),
        destination_(destination),
        layout_(builder.buffer(destination).layout),
        element_bytes_(builder.buffer(destination).element_bytes),
        plans_(std::move(plans)) {}

  Time run(Time ready, const Origin& origin) {
    add_receive_buffer(origin);
    std::vector<Movement> moving = movements();
    const Time done = moving.empty() ? ready.next_round() : ready.after_exchange();
    builder_.add_movements(done.superstep, origin, std::move(moving));
    add_copies(done, origin);
    return done;
  }

 private:
  [[nodiscard]] const Interval& interval(std::size_t i) const { return layout_->intervals()[i]; }

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
  }

  std::vector<Movement> movements() const {
    std::vector<Movement> all;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      for (const IntervalPlan::Transfer& t : plans_[i].transfers) {
        const auto& holders =
            builder_.buffer(t.source).layout->intervals()[t.source_interval].tiles;
        Movement& movement = all.emplace_back(
            Movement{{t.source, holders[i % holders.size()], static_cast<std::uint32_t>(t.from)},
                     {},
                     static_cast<std::uint32_t>(t.words)});
        for (const TileId tile : interval(i).tiles) {
          movement.destinations.push_back(
              {t.staged ? received_ : destination_, tile, static_cast<std::uint32_t>(t.to)});
        }
      }
    }
    return all;
  }

  /// Rows of the copy codelet's table for a box: at most three axes each.
  static void append_rows(const Box& box, BufferId from, BufferId to,
                          std::vector<StateWord>& table) {
    const std::size_t rank = box.axes.size();
    const std::size_t outer = rank > kBoxAxes ? rank - kBoxAxes : 0;
    const std::span<const Axis> axes(box.axes);
    for_each_index(axes.first(outer), box.from, box.to, [&](std::int64_t f, std::int64_t t) {
      std::vector<Axis> inner(kBoxAxes - (rank - outer));
      inner.insert(inner.end(), axes.begin() + static_cast<std::ptrdiff_t>(outer), axes.end());
      table.push_back(StateWord::address(to, t));
      table.push_back(StateWord::address(from, f));
      for (const Axis& axis : inner) table.push_back(StateWord::number(axis.size));
      for (const Axis& axis : inner) table.push_back(StateWord::number(axis.to));
      for (const Axis& axis : inner) table.push_back(StateWord::number(axis.from));
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
        const BufferId from = copy.from == kReceived ? received_ : copy.from;
        if (std::ranges::find(set.reads, from) == set.reads.end()) set.reads.push_back(from);
        append_rows(box, from, destination_, set.by_interval[i]);
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

  ProgramBuilder& builder_;
  BufferId destination_;
  LayoutPtr layout_;
  std::int64_t element_bytes_;
  std::vector<IntervalPlan> plans_;
  BufferId received_{};
};

}  // namespace

Time move(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces,
          Time ready, const Origin& origin) {
  return Mover(builder, destination, plan_moves(builder, destination, pieces)).run(ready, origin);
}

}  // namespace superstep
