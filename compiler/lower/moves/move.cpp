#include "compiler/lower/moves/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "compiler/lower/moves/move_plan.h"
#include "compiler/lower/moves/pack.h"
#include "compiler/lower/moves/widen.h"
#include "compiler/vertex/append_runs.h"

namespace superstep {
namespace {

/// What is packed first, which takes a launch and memory, has so many times the transfers that are
/// many [assumed].
constexpr std::int64_t kTimesMany = 2;
/// Commands that append to an interval above which that is so too [assumed; 8 generated
/// rearrangements take the same cycles with 256, 1,024 and 4,096 on small64].
constexpr std::int64_t kMostCommands = 1024;
/// Destination intervals whose plans tell whether elements are scattered [assumed; 1 and 4 tell the
/// same of 8 generated rearrangements].
constexpr std::size_t kPlansLookedAt = 4;
/// Passes in which packed elements move at most [assumed: each is planned and scheduled apart].
constexpr std::int64_t kMostPasses = 8;

Parts whole(const ProgramBuilder& builder, BufferId destination) {
  return {builder.buffer(destination).layout};
}

/// Makes what `plan_moves` has planned part of the program.
class Mover {
 public:
  Mover(ProgramBuilder& builder, BufferId destination, const Parts& parts,
        const std::vector<Piece>& pieces)
      : builder_(builder),
        destination_(destination),
        layout_(builder.buffer(destination).layout),
        element_bytes_(builder.buffer(destination).element_bytes),
        plans_(layout_->intervals().size()) {
    const auto add = [&](std::size_t i, IntervalPlan plan) {
      add_movements(i, plan);
      plan.transfers = {};
      plans_[i] = std::move(plan);
    };
    std::vector<std::size_t> copied;
    plan_moves(builder, destination, parts, pieces, {0, plans_.size()},
               [&](std::size_t i, IntervalPlan plan) {
                 if (plan.transfers.empty()) copied.push_back(i);
                 add(i, std::move(plan));
               });
    // In an exchange that others need, a tile may as well send to itself.
    if (movements_.empty()) return;
    for (const std::size_t i : copied) {
      plan_moves(
          builder, destination, parts, pieces, {i, i + 1},
          [&](std::size_t, IntervalPlan plan) {
            if (takes_less(plan, plans_[i])) add(i, std::move(plan));
          },
          true);
    }
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

  /// Whether transfers alone take less than copies.
  [[nodiscard]] bool takes_less(const IntervalPlan& exchanged, const IntervalPlan& copied) const {
    if (!exchanged.copies.empty() || !exchanged.appended.empty()) return false;
    std::int64_t words = 0;
    for (const IntervalPlan::Transfer& t : exchanged.transfers) words += t.words;
    const Costs& costs = builder_.costs();
    std::int64_t copies = 0;
    for (const LocalCopy& copy : copied.copies) {
      Box box = simplified(copy.box);
      const std::int64_t unit = in_units(box, element_bytes_);
      const bool is_run =
          !box.axes.empty() && box.axes.back().from == unit && box.axes.back().to == unit;
      const std::int64_t run = is_run ? box.axes.back().size : 1;
      copies += costs.copy(1, box.elements() / run, run, static_cast<std::uint32_t>(unit)) -
                costs.launch();
    }
    return costs.port(words, std::ssize(exchanged.transfers)) < copies;
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
    // Most intervals are filled alike.
    if (movements_.empty()) movements_.reserve(plan.transfers.size() * plans_.size());
    for (const IntervalPlan::Transfer& t : plan.transfers) {
      const auto& holders = builder_.buffer(t.source).layout->intervals()[t.source_interval].tiles;
      Movement& movement = movements_.emplace_back();
      movement.source = {t.source, holders[i % holders.size()], static_cast<std::uint32_t>(t.from)};
      movement.words = static_cast<std::uint32_t>(t.words);
      movement.destinations.reserve(interval(i).tiles.size());
      for (const TileId tile : interval(i).tiles) {
        movement.destinations.push_back(
            {t.staged ? kReceived : destination_, tile, static_cast<std::uint32_t>(t.to)});
      }
    }
  }

  void append_rows(const Box& box, BufferId from, vertex::CopyBoxes::State& state) const {
    append_boxes(box, [&](const BoxRow& row) {
      vertex::CopyBoxes::Box& copy = state.boxes.emplace_back();
      copy.to = StateWord::address(destination_, row.to);
      copy.from = StateWord::address(from, row.from);
      for (std::size_t d = 0; d < copy.sizes.size(); ++d) {
        copy.sizes[d] = row.axes[d].size;
        copy.to_strides[d] = row.axes[d].to;
        copy.from_strides[d] = row.axes[d].from;
      }
    });
  }

  void add_copies(Time time, const Origin& origin) {
    struct Tables {
      std::map<std::size_t, vertex::CopyBoxes::State> by_interval;
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
          .codelet = builder_.add_codelet("copy " + std::to_string(unit), vertex::CopyBoxes{unit}),
          .launches = {},
          .reads = set.reads,
          .writes = {destination_}};
      for (const auto& [i, boxes] : set.by_interval) {
        const VertexState state = boxes.words();
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
      vertex::AppendRuns::State runs{.to = StateWord::address(destination_), .commands = {}};
      for (const AppendedRows& rows : appended) {
        const BufferId from = actual(rows.from);
        if (std::ranges::find(compute.reads, from) == compute.reads.end()) {
          compute.reads.push_back(from);
        }
        runs.commands.push_back({.rows = rows.rows,
                                 .count = rows.count,
                                 .from = StateWord::address(from, rows.at),
                                 .stride = rows.stride,
                                 .row_stride = rows.row_stride});
      }
      const VertexState state = runs.words();
      for (const TileId tile : interval(i).tiles) compute.launches.push_back({tile, state});
    }
    if (compute.launches.empty()) return;
    const auto bytes = static_cast<std::uint32_t>(element_bytes_);
    compute.codelet =
        builder_.add_codelet("append " + std::to_string(bytes), vertex::AppendRuns{bytes});
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

/// Whether `holds` is true of the plan of one of a few intervals of the destination, evenly apart:
/// pieces may fill different intervals.
template <class Holds>
bool is_true_of_some(const ProgramBuilder& builder, BufferId destination, const Parts& parts,
                     const std::vector<Piece>& pieces, const Holds& holds) {
  const std::size_t intervals = builder.buffer(destination).layout->intervals().size();
  const std::size_t looked_at = std::min(intervals, kPlansLookedAt);
  bool is_true = false;
  for (std::size_t k = 0; k < looked_at && !is_true; ++k) {
    const std::size_t i = (2 * k + 1) * intervals / (2 * looked_at);
    plan_moves(builder, destination, parts, pieces, {i, i + 1},
               [&](std::size_t, const IntervalPlan& plan) { is_true = holds(plan); });
  }
  return is_true;
}

/// Whether an interval is filled by so many transfers, or commands, that their code and state count
/// more than another copy of what they move.
bool is_scattered(const ProgramBuilder& builder, BufferId destination, const Parts& parts,
                  const std::vector<Piece>& pieces) {
  const std::vector<Interval>& intervals = builder.buffer(destination).layout->intervals();
  const std::int64_t most = kTimesMany * builder.costs().many_transfers();
  if (intervals[0].count <= most) return false;
  return is_true_of_some(builder, destination, parts, pieces, [&](const IntervalPlan& plan) {
    return std::ssize(plan.transfers) > most || std::ssize(plan.appended) > kMostCommands;
  });
}

/// Indices of an axis that an interval of `count` elements has at least.
std::int64_t indices_in(std::int64_t count, const Axis& axis, std::int64_t stride) {
  return std::min(axis.size, count / std::max<std::int64_t>(std::abs(stride), 1));
}

/// The axis of which most indices lie on each tile on both sides.
std::size_t most_divided_axis(const Box& box, std::int64_t from_count, std::int64_t to_count) {
  const auto indices = [&](const Axis& axis) {
    return std::min(indices_in(from_count, axis, axis.from), indices_in(to_count, axis, axis.to));
  };
  const auto most = std::ranges::max_element(box.axes, {}, indices);
  return static_cast<std::size_t>(most - box.axes.begin());
}

/// Moves packed elements in passes, such that what is packed and received fits beside both ends.
class PackedMove {
 public:
  PackedMove(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces)
      : builder_(builder), destination_(destination), pieces_(pieces) {}

  Time run(Time ready, const Origin& origin) {
    const std::uint32_t element_bytes = builder_.buffer(destination_).element_bytes;
    if (element_bytes < 4) {
      // Narrow elements of different passes would share words.
      const Packing packing = pack(builder_, pieces_, origin);
      if (!stays_scattered(packing.pieces)) return move_packed(packing, ready, origin);
      return run_on_words(element_bytes, ready, origin);
    }
    const std::int64_t passes = count_passes(element_bytes);
    if (passes > 1) add_event(origin, fmt::format("moves its elements in {} passes", passes));
    for (std::int64_t p = 0; p < passes; ++p) {
      ready = move_packed(pack(builder_, some_of(p, passes), origin), ready, origin);
    }
    return ready;
  }

 private:
  [[nodiscard]] std::int64_t elements_on_a_tile(BufferId buffer) const {
    const std::vector<Interval>& intervals = builder_.buffer(buffer).layout->intervals();
    return intervals[intervals.size() / 2].count;
  }

  Time fill(const Packing& packing, Time ready, const Origin& origin) {
    Time packed = ready;
    for (const Packing::Filled& filled : packing.filled) {
      const Parts all = whole(builder_, filled.buffer);
      const Time done = Mover(builder_, filled.buffer, all, filled.pieces).run(ready, origin);
      packed = std::max(packed, done);
    }
    return packed;
  }

  Time move_packed(const Packing& packing, Time ready, const Origin& origin) {
    const Time packed = fill(packing, ready, origin);
    return Mover(builder_, destination_, whole(builder_, destination_), packing.pieces)
        .run(packed, origin);
  }

  /// Passes for words from elements of `source_bytes`.
  [[nodiscard]] std::int64_t count_passes(std::int64_t source_bytes) const {
    std::int64_t most = kMostPasses;
    const std::int64_t to = elements_on_a_tile(destination_);
    for (const Piece& piece : pieces_) {
      if (piece.box.axes.empty()) return 1;
      const std::int64_t from = elements_on_a_tile(piece.source);
      const Axis& axis = piece.box.axes[most_divided_axis(piece.box, from, to)];
      most = std::min({most, indices_in(from, axis, axis.from), indices_in(to, axis, axis.to)});
    }
    const std::int64_t room = builder_.machine().tile.memory_bytes - to * (4 + source_bytes);
    std::int64_t passes = 1;
    while (passes < most && 2 * to * 4 / passes > room / 8 * 7) ++passes;
    return passes;
  }

  /// Whether narrow elements need so many commands even when packed that their lists count more
  /// than a word for each.
  [[nodiscard]] bool stays_scattered(const std::vector<Piece>& packed) const {
    const Parts all = whole(builder_, destination_);
    return is_true_of_some(builder_, destination_, all, packed, [&](const IntervalPlan& plan) {
      const std::int64_t commands = std::max(std::ssize(plan.appended), std::ssize(plan.copies));
      return commands > kMostCommands &&
             commands * vertex::kAppendCommandWords > elements_on_a_tile(destination_);
    });
  }

  void add_event(const Origin& origin, std::string what) {
    builder_.add_event(CompileEvent::Kind::kSlowRoute, origin,
                       std::move(what) + ": they are scattered over tiles",
                       "an order of axes in which neighbours stay together would help");
  }

  /// Packed elements get a word each to travel: words go anywhere one by one.
  Time run_on_words(std::uint32_t element_bytes, Time ready, const Origin& origin) {
    const BufferId moved = add_words(builder_, builder_.buffer(destination_).layout, origin);
    const std::int64_t passes = count_passes(element_bytes);
    add_event(origin,
              fmt::format("moves each of its elements of {} bytes as a word{}", element_bytes,
                          passes > 1 ? fmt::format(", in {} passes", passes) : ""));
    for (std::int64_t p = 0; p < passes; ++p) {
      Packing packing = pack(builder_, some_of(p, passes), origin);
      const Time packed = fill(packing, ready, origin);
      std::map<BufferId, BufferId> words;
      for (const Packing::Filled& filled : packing.filled) {
        const BufferId wide = add_words(builder_, builder_.buffer(filled.buffer).layout, origin);
        words[filled.buffer] = wide;
        ready = std::max(ready, copy_bits(builder_, filled.buffer, wide, packed, origin));
      }
      for (Piece& piece : packing.pieces) piece.source = words.at(piece.source);
      ready = Mover(builder_, moved, whole(builder_, moved), packing.pieces).run(ready, origin);
    }
    return copy_bits(builder_, moved, destination_, ready, origin);
  }

  /// Every `passes`-th index of one axis, from `first` on.
  [[nodiscard]] std::vector<Piece> some_of(std::int64_t first, std::int64_t passes) const {
    if (passes == 1) return pieces_;
    std::vector<Piece> some = pieces_;
    for (Piece& piece : some) {
      Box& box = piece.box;
      Axis& axis = box.axes[most_divided_axis(box, elements_on_a_tile(piece.source),
                                              elements_on_a_tile(destination_))];
      box.from += first * axis.from;
      box.to += first * axis.to;
      axis = {(axis.size - first + passes - 1) / passes, axis.from * passes, axis.to * passes};
    }
    return some;
  }

  ProgramBuilder& builder_;
  BufferId destination_;
  const std::vector<Piece>& pieces_;
};

}  // namespace

Time move(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces,
          Time ready, const Origin& origin) {
  return move(builder, destination, whole(builder, destination), pieces, ready, origin);
}

Time move(ProgramBuilder& builder, BufferId destination, const Parts& parts,
          const std::vector<Piece>& pieces, Time ready, const Origin& origin) {
  if (!can_pack(pieces) || !is_scattered(builder, destination, parts, pieces)) {
    return Mover(builder, destination, parts, pieces).run(ready, origin);
  }
  if (parts.count == 1) return PackedMove(builder, destination, pieces).run(ready, origin);
  std::vector<Piece> cut;
  const Layout& layout = *builder.buffer(destination).layout;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    partition(
        pieces[p].box, kToSide, [&](std::int64_t e) { return parts.layout->interval_at(e); },
        [&](std::size_t i, const Box& box) {
          cut.push_back({pieces[p].source, in_destination(layout, parts, p, i, box)});
        });
  }
  return PackedMove(builder, destination, cut).run(ready, origin);
}

}  // namespace superstep
