#include "compiler/lower/moves/move_plan.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/cost/costs.h"
#include "compiler/lower/moves/pack.h"

namespace superstep {
namespace {

/// Words between two needed runs that are cheaper to receive than a second transfer [chosen: no
/// layer of bench/fit_by_builds.py on small64 changes from 0 to 8].
constexpr std::int64_t kGapWords = 4;
/// Of both tiles of a direct transfer. Code is not saved where a receive buffer takes more.
constexpr std::int64_t kRowBytes = Costs::kSendRowBytes + Costs::kReceiveRowBytes;
/// Transfers of what repeats, into one interval and from one: more of them make a port of the
/// sender the busiest [chosen by bench/fit_by_builds.py on 30 generated layers on small64: device
/// cycles above the least are 2.24 % on average with 1, 1.65 % with 4, 0.02 % with 16, none with
/// 64].
constexpr std::int64_t kMostRepeats = 16;
/// Destination intervals that are planned together: what each wants is kept for so long [assumed,
/// for the memory of the compiler].
constexpr std::size_t kIntervalsAtOnce = 64;

/// How a fragment would travel: runs of `bytes` for every index of `outer`.
struct Travel {
  std::int64_t from = 0, to = 0;
  std::int64_t bytes = 0;
  Axes outer;

  [[nodiscard]] std::int64_t runs() const {
    std::int64_t n = 1;
    for (const Axis& axis : outer) n *= axis.size;
    return n;
  }
};

/// What one source interval holds of a piece and one destination interval wants.
struct Fragment {
  BufferId source{};
  std::size_t source_interval = 0;
  Box box;  ///< in bytes from the interval starts
  std::uint32_t round = 0;
  Travel direct = {};  ///< `bytes` is 0 when no runs lie the same way on both sides
};

/// Words [begin, end) of a source interval, and where they are received.
struct WordRange {
  std::int64_t begin, end;
  std::int64_t received_at = 0;
};

Box in_bytes(const Box& box, std::int64_t element_bytes, std::int64_t from_begin,
             std::int64_t to_begin) {
  Box bytes{(box.from - from_begin) * element_bytes, (box.to - to_begin) * element_bytes, box.axes};
  for (Axis& axis : bytes.axes) {
    axis.from *= element_bytes;
    axis.to *= element_bytes;
  }
  return bytes;
}

/// Axes with ascending sources, outermost first; broadcast axes (stride 0) apart.
struct SourceOrder {
  Box box;
  Axes repeated;
};

SourceOrder in_source_order(const Box& box) {
  SourceOrder order{{box.from, box.to, {}}, {}};
  for (Axis axis : box.axes) {
    if (axis.from == 0) {
      order.repeated.push_back(axis);
      continue;
    }
    if (axis.from < 0) {
      order.box.from += (axis.size - 1) * axis.from;
      order.box.to += (axis.size - 1) * axis.to;
      axis.from = -axis.from;
      axis.to = -axis.to;
    }
    order.box.axes.push_back(axis);
  }
  // Most are in order, and a stable sort takes memory.
  if (!std::ranges::is_sorted(order.box.axes, std::greater{}, &Axis::from)) {
    std::ranges::stable_sort(order.box.axes, std::greater{}, &Axis::from);
  }
  return order;
}

/// Runs that lie the same way on both sides and cover whole words; `bytes` is 0 when the fragment
/// has none.
Travel direct_travel(const Fragment& fragment, std::int64_t element_bytes,
                     std::int64_t interval_bytes) {
  const SourceOrder order = in_source_order(fragment.box);
  Travel travel{order.box.from, order.box.to, element_bytes, order.box.axes};
  while (!travel.outer.empty() && travel.outer.back().from == travel.bytes &&
         travel.outer.back().to == travel.bytes) {
    travel.bytes *= travel.outer.back().size;
    travel.outer.pop_back();
  }
  travel.outer.insert(travel.outer.end(), order.repeated.begin(), order.repeated.end());
  bool whole = travel.from % 4 == 0 && travel.to % 4 == 0;
  for (const Axis& axis : travel.outer) whole = whole && axis.from % 4 == 0 && axis.to % 4 == 0;
  if (travel.bytes % 4 != 0) {
    // A ragged end may only spill into the padding after the interval.
    whole = whole && travel.outer.empty() && travel.to + travel.bytes == interval_bytes;
  }
  if (!whole) travel.bytes = 0;
  return travel;
}

/// Covering runs on the source side only.
Travel staged_travel(const Fragment& fragment, std::int64_t element_bytes) {
  const SourceOrder order = in_source_order(fragment.box);
  Travel travel{order.box.from, 0, element_bytes, order.box.axes};
  while (!travel.outer.empty() && travel.outer.back().from - travel.bytes <= kGapWords * 4) {
    travel.bytes += travel.outer.back().from * (travel.outer.back().size - 1);
    travel.outer.pop_back();
  }
  return travel;
}

/// Assigns rounds so that no two fragments of one round write the same word, and later fragments
/// win where fragments overlap.
void assign_rounds(std::vector<Fragment>& fragments, std::int64_t interval_bytes,
                   bool overlapping) {
  std::vector<std::uint64_t> taken(static_cast<std::size_t>((interval_bytes + 3) / 4));
  for (Fragment& fragment : fragments) {
    const auto for_each_word = [&](const auto& visit) {
      for_each_index(
          fragment.box.axes, fragment.box.from, fragment.box.to,
          [&](std::int64_t, std::int64_t to) { visit(taken[static_cast<std::size_t>(to / 4)]); });
    };
    std::uint64_t used = 0;
    for_each_word([&](std::uint64_t& word) { used |= word; });
    const int round = overlapping ? static_cast<int>(std::bit_width(used)) : std::countr_one(used);
    SUPERSTEP_CHECK(round < 64, "too many strided copies overlap");
    fragment.round = static_cast<std::uint32_t>(round);
    for_each_word([&](std::uint64_t& word) { word |= std::uint64_t{1} << round; });
  }
}

/// Copies out of a receive buffer: finds for each box of source bytes where its ranges were
/// received.
class Unpacker {
 public:
  Unpacker(const std::vector<WordRange>& ranges, BufferId received, std::uint32_t round,
           std::int64_t element_bytes, std::vector<LocalCopy>& copies)
      : ranges_(ranges),
        received_(received),
        round_(round),
        bytes_(element_bytes),
        copies_(copies) {}

  void unpack(const Box& box) {
    const SourceOrder order = in_source_order(box);
    unpack(order.box, order.repeated);
  }

 private:
  [[nodiscard]] const WordRange& range_of(std::int64_t byte) const {
    return *(std::ranges::upper_bound(ranges_, byte / 4, {}, &WordRange::begin) - 1);
  }
  /// Where the box is received when one range holds all of it.
  [[nodiscard]] std::optional<std::int64_t> place(const Box& box) const {
    const Extent extent = extent_of(box, kFromSide);
    const WordRange& range = range_of(extent.first);
    if (extent.last + bytes_ > range.end * 4) return std::nullopt;
    return range.received_at + extent.first - range.begin * 4;
  }
  void emit(Box box, const Axes& repeated) {
    box.axes.insert(box.axes.end(), repeated.begin(), repeated.end());
    copies_.push_back({received_, std::move(box), round_});
  }
  void unpack(Box box, const Axes& repeated) {
    if (const auto at = place(box)) {
      box.from = *at;
      emit(std::move(box), repeated);
      return;
    }
    const Axis outer = box.axes.front();
    Box slice{box.from, box.to, {box.axes.begin() + 1, box.axes.end()}};
    std::vector<std::optional<std::int64_t>> places;
    for (std::int64_t i = 0; i < outer.size; ++i) {
      places.push_back(place(slice));
      slice.from += outer.from;
    }
    for (std::int64_t i = 0; i < outer.size;) {
      const auto at = static_cast<std::size_t>(i);
      Box part{box.from + i * outer.from, box.to + i * outer.to, slice.axes};
      if (!places[at]) {
        unpack(std::move(part), repeated);
        ++i;
        continue;
      }
      std::int64_t n = 1;
      std::int64_t step = 0;
      while (i + n < outer.size && places[at + static_cast<std::size_t>(n)]) {
        const std::int64_t next = *places[at + static_cast<std::size_t>(n)] -
                                  *places[at + static_cast<std::size_t>(n) - 1];
        if (n == 1) step = next;
        if (next != step) break;
        ++n;
      }
      part.from = *places[at];
      if (n > 1) part.axes.insert(part.axes.begin(), {n, step, outer.to});
      emit(std::move(part), repeated);
      i += n;
    }
  }

  const std::vector<WordRange>& ranges_;
  BufferId received_;
  std::uint32_t round_;
  std::int64_t bytes_;
  std::vector<LocalCopy>& copies_;
};

void merge_ranges(std::vector<WordRange>& ranges) {
  std::ranges::sort(ranges, {},
                    [](const WordRange& range) { return std::tuple(range.begin, range.end); });
  std::vector<WordRange> merged;
  for (const WordRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end + kGapWords) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

/// Puts copies whose elements share words into different rounds, later ones where they overlap.
void separate(std::vector<LocalCopy>& copies, std::int64_t interval_bytes, bool overlapping) {
  std::ranges::stable_sort(copies, {}, &LocalCopy::round);
  std::vector<Fragment> fragments;
  for (const LocalCopy& copy : copies) fragments.emplace_back().box = copy.box;
  assign_rounds(fragments, interval_bytes, overlapping);
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i].round = fragments[i].round;
}

/// Whether pieces for an interval write an element twice. Only what repeats one element, as padding
/// does, is written over; an interval may have elements that nothing writes.
bool overlap(const std::vector<Piece>& pieces, const Interval& interval) {
  const auto repeats_one = [](const Piece& piece) {
    return std::ranges::all_of(piece.box.axes, [](const Axis& axis) { return axis.from == 0; });
  };
  if (pieces.size() < 2 || std::ranges::none_of(pieces, repeats_one)) return false;
  std::vector<bool> written(static_cast<std::size_t>(interval.count));
  bool is_twice = false;
  for (const Piece& piece : pieces) {
    for_each_index(piece.box.axes, piece.box.from, piece.box.to,
                   [&](std::int64_t, std::int64_t to) {
                     auto element = written[static_cast<std::size_t>(to - interval.begin)];
                     is_twice = is_twice || element;
                     element = true;
                   });
  }
  return is_twice;
}

class MovePlanner {
 public:
  MovePlanner(const ProgramBuilder& builder, BufferId destination, const Parts& parts,
              bool is_exchanged)
      : builder_(builder),
        layout_(builder.buffer(destination).layout),
        parts_(parts),
        element_bytes_(builder.buffer(destination).element_bytes),
        is_exchanged_(is_exchanged) {}

  void run(const std::vector<Piece>& pieces, IntervalRange range,
           const std::function<void(std::size_t, IntervalPlan)>& visit) {
    std::vector<Extent> extents;
    for (const Piece& piece : pieces) extents.push_back(extent_of(piece.box, kToSide));
    for (std::size_t i = range.first; i < range.last; i += kIntervalsAtOnce) {
      const IntervalRange some{i, std::min(range.last, i + kIntervalsAtOnce)};
      split_by_destination(pieces, extents, some);
      for (std::size_t j = some.first; j < some.last; ++j) {
        visit(j, plan_interval(j, wanted_[j - some.first]));
      }
    }
  }

 private:
  [[nodiscard]] const Interval& interval(std::size_t i) const { return layout_->intervals()[i]; }

  /// Finds what each interval of a range wants of the pieces.
  void split_by_destination(const std::vector<Piece>& pieces, const std::vector<Extent>& extents,
                            IntervalRange range) {
    const std::vector<Interval>& intervals = parts_.layout->intervals();
    const std::int64_t begin = intervals[range.first].begin, end = intervals[range.last - 1].end();
    const auto interval_at = [&](std::int64_t element) -> IntervalEnd {
      if (element < begin) return {range.last, begin};
      if (element >= end) return {range.last, parts_.layout->elements()};
      return parts_.layout->interval_at(element);
    };
    wanted_.resize(range.last - range.first);
    for (std::vector<Piece>& of_interval : wanted_) of_interval.clear();
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      if (extents[p].last < begin || extents[p].first >= end) continue;
      const auto add = [&](std::size_t number, const Box& box) {
        if (number == range.last) return;
        wanted_[number - range.first].push_back(
            {pieces[p].source, in_destination(*layout_, parts_, p, number, box)});
      };
      // A function of its own would take memory for what the lambdas capture.
      partition(pieces[p].box, kToSide, std::cref(interval_at), std::cref(add));
    }
  }

  /// Whether every tile of destination interval `i` holds `source` itself.
  [[nodiscard]] bool is_local(std::size_t i, const Interval& source) const {
    return std::ranges::includes(source.tiles, interval(i).tiles);
  }

  [[nodiscard]] IntervalPlan plan_interval(std::size_t i, const std::vector<Piece>& wanted) const {
    const std::int64_t interval_bytes = interval(i).count * element_bytes_;
    std::vector<Fragment> fragments;
    fragments.reserve(wanted.size());
    for (const Piece& piece : wanted) {
      const Layout& source = *builder_.buffer(piece.source).layout;
      const auto add = [&](std::size_t number, const Box& box) {
        Fragment& fragment = fragments.emplace_back();
        fragment.source = piece.source;
        fragment.source_interval = number;
        fragment.box = in_bytes(simplified(box), element_bytes_, source.intervals()[number].begin,
                                interval(i).begin);
      };
      partition(
          piece.box, kFromSide, [&](std::int64_t e) { return source.interval_at(e); },
          std::cref(add));
    }
    std::int64_t direct_transfers = 0;
    for (Fragment& fragment : fragments) {
      fragment.direct = direct_travel(fragment, element_bytes_, interval_bytes);
      direct_transfers += fragment.direct.runs();
    }
    const bool saves_code = direct_transfers > builder_.costs().many_transfers() &&
                            direct_transfers * kRowBytes > interval_bytes;
    // All or nothing, so that what is packed may be gone when the destination comes.
    const bool may_go_directly =
        !saves_code || std::ranges::none_of(fragments, [&](const Fragment& fragment) {
          return fragment.direct.runs() > staged_travel(fragment, element_bytes_).runs();
        });
    const bool overlapping = overlap(wanted, interval(i));
    if (element_bytes_ < 4 && !overlapping) {
      if (std::optional<IntervalPlan> plan = plan_appended(i, fragments)) return *std::move(plan);
    }
    if (overlapping || (element_bytes_ < 4 && fragments.size() > 1)) {
      assign_rounds(fragments, interval_bytes, overlapping);
    }
    IntervalPlan plan;
    if (may_go_directly) plan.transfers.reserve(static_cast<std::size_t>(direct_transfers));
    std::vector<Fragment> staged;
    const auto is_here = [&](const Fragment& fragment) {
      return is_local(
          i, builder_.buffer(fragment.source).layout->intervals()[fragment.source_interval]);
    };
    const bool all_here = !is_exchanged_ && std::ranges::all_of(fragments, is_here);
    const auto copy = [&](Fragment& fragment) {
      if (is_here(fragment)) {
        plan.copies.push_back({fragment.source, fragment.box, fragment.round});
      } else {
        staged.push_back(std::move(fragment));
      }
    };
    std::vector<Fragment> unless_others_are_copied;
    for (Fragment& fragment : fragments) {
      // In an exchange that other fragments need anyway, a tile may as well send to itself.
      const Way way = all_here ? Way::kCopied : way_of(fragment, may_go_directly);
      if (way == Way::kDirect) {
        add_direct(plan, fragment);
      } else if (way == Way::kCopied) {
        copy(fragment);
      } else {
        unless_others_are_copied.push_back(std::move(fragment));
      }
    }
    const bool copies = !staged.empty() || !plan.copies.empty();
    for (Fragment& fragment : unless_others_are_copied) {
      if (copies) {
        copy(fragment);
      } else {
        add_direct(plan, fragment);
      }
    }
    plan_staged(plan, staged);
    merge_transfers(plan);
    plan.copies = in_single_boxes(joined(plan.copies), element_bytes_);
    // What one fragment takes from several runs may meet in a word.
    if (element_bytes_ < 4 && plan.copies.size() > 1) {
      separate(plan.copies, interval_bytes, overlapping);
    }
    return plan;
  }

  /// Narrow elements written one behind the other, if fragments share words and that takes less
  /// time than to merge them into these.
  [[nodiscard]] std::optional<IntervalPlan> plan_appended(
      std::size_t i, const std::vector<Fragment>& fragments) const {
    const auto fills_words = [&](const Fragment& fragment) { return fragment.direct.bytes != 0; };
    if (std::ranges::all_of(fragments, fills_words)) return std::nullopt;
    IntervalPlan plan;
    std::vector<Fragment> staged;
    for (const Fragment& fragment : fragments) {
      if (is_local(
              i, builder_.buffer(fragment.source).layout->intervals()[fragment.source_interval])) {
        plan.copies.push_back({fragment.source, fragment.box, 0});
      } else {
        staged.push_back(fragment);
      }
    }
    plan_staged(plan, staged);
    merge_transfers(plan);
    std::optional<std::vector<AppendedRows>> rows = appended_rows(plan.copies, element_bytes_);
    if (!rows || !appending_pays(*rows, joined(plan.copies), element_bytes_,
                                 builder_.machine().tile.workers)) {
      return std::nullopt;
    }
    plan.appended = *std::move(rows);
    plan.copies.clear();
    return plan;
  }

  /// How a fragment comes to its place: in transfers there, or copied from where it lies on the
  /// tile or is received.
  enum class Way { kDirect, kCopied, kDirectUnlessOthersAreCopied };

  [[nodiscard]] Way way_of(const Fragment& fragment, bool may_go_directly) const {
    const Travel& direct = fragment.direct;
    if (fragment.round != 0 || !may_go_directly || direct.bytes == 0) return Way::kCopied;
    if (direct.runs() == 1) return Way::kDirect;
    const Travel staged = staged_travel(fragment, element_bytes_);
    if (direct.runs() <= staged.runs()) return Way::kDirect;
    // What repeats much is sent once: its sender has others to serve. So is what repeats at all
    // where it saves no launch to send it often.
    const bool repeats =
        std::ranges::any_of(direct.outer, [](const Axis& axis) { return axis.from == 0; });
    if (repeats && direct.runs() > kMostRepeats) return Way::kCopied;
    const std::int64_t words = (direct.bytes + 3) / 4;
    const std::int64_t staged_words = staged.runs() * ((staged.bytes + 3) / 4);
    const Costs& costs = builder_.costs();
    const std::int64_t direct_cycles = costs.port(direct.runs() * words, direct.runs());
    const std::int64_t staged_cycles =
        costs.port(staged_words, staged.runs()) + costs.copy(1, direct.runs(), words, 4);
    if (direct_cycles > staged_cycles) return Way::kCopied;
    return repeats ? Way::kDirectUnlessOthersAreCopied : Way::kDirect;
  }

  static void add_direct(IntervalPlan& plan, const Fragment& fragment) {
    const Travel& direct = fragment.direct;
    const std::int64_t words = (direct.bytes + 3) / 4;
    for_each_index(direct.outer, direct.from, direct.to, [&](std::int64_t from, std::int64_t to) {
      plan.transfers.push_back({fragment.source, fragment.source_interval, from, to, words, false});
    });
  }

  void plan_staged(IntervalPlan& plan, const std::vector<Fragment>& fragments) const {
    std::map<std::pair<BufferId, std::size_t>, std::vector<WordRange>> ranges;
    for (const Fragment& fragment : fragments) {
      const Travel travel = staged_travel(fragment, element_bytes_);
      auto& of_source = ranges[{fragment.source, fragment.source_interval}];
      for_each_index(travel.outer, travel.from, travel.to, [&](std::int64_t from, std::int64_t) {
        of_source.push_back({from / 4, (from + travel.bytes + 3) / 4});
      });
    }
    for (auto& [source, of_source] : ranges) {
      merge_ranges(of_source);
      for (WordRange& range : of_source) {
        range.received_at = plan.received_words * 4;
        plan.received_words += range.end - range.begin;
        plan.transfers.push_back({source.first, source.second, range.begin * 4, range.received_at,
                                  range.end - range.begin, true});
      }
    }
    for (const Fragment& fragment : fragments) {
      Unpacker(ranges[{fragment.source, fragment.source_interval}], kReceived, fragment.round,
               element_bytes_, plan.copies)
          .unpack(fragment.box);
    }
  }

  static void merge_transfers(IntervalPlan& plan) {
    auto& transfers = plan.transfers;
    const auto place = [](const IntervalPlan::Transfer& t) {
      return std::tuple(t.staged, t.source, t.source_interval, t.from, t.to);
    };
    if (!std::ranges::is_sorted(transfers, {}, place)) std::ranges::sort(transfers, {}, place);
    std::size_t kept = 0;
    for (const auto& t : transfers) {
      if (kept > 0) {
        auto& last = transfers[kept - 1];
        if (last.staged == t.staged && last.source == t.source &&
            last.source_interval == t.source_interval && last.from + last.words * 4 == t.from &&
            last.to + last.words * 4 == t.to) {
          last.words += t.words;
          continue;
        }
      }
      transfers[kept++] = t;
    }
    transfers.resize(kept);
  }

  const ProgramBuilder& builder_;
  LayoutPtr layout_;
  const Parts& parts_;
  std::int64_t element_bytes_;
  bool is_exchanged_;
  std::vector<std::vector<Piece>> wanted_;  ///< by interval of those planned together
};

}  // namespace

Box in_destination(const Layout& destination, const Parts& parts, std::size_t piece, std::size_t i,
                   Box box) {
  const Interval& interval = destination.intervals()[i];
  box.to += interval.begin - parts.layout->intervals()[i].begin;
  if (parts.count > 1) box.to += parts.of_piece[piece] * (interval.count / parts.count);
  return simplified(std::move(box));
}

void plan_moves(const ProgramBuilder& builder, BufferId destination, const Parts& parts,
                const std::vector<Piece>& pieces, IntervalRange range,
                const std::function<void(std::size_t, IntervalPlan)>& visit, bool is_exchanged) {
  MovePlanner(builder, destination, parts, is_exchanged).run(pieces, range, visit);
}

}  // namespace superstep
