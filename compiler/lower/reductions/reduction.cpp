#include "compiler/lower/reductions/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/divide.h"
#include "compiler/lower/elementwise.h"
#include "compiler/lower/reductions/cut_reduction.h"

namespace superstep {
namespace {

/// The share of a tile's memory above which elements are not gathered at once [assumed].
constexpr std::int64_t kGatheredShare = 8;
/// No pass takes less: a launch, a row of an exchange and a vertex state of 7 words.
constexpr std::int64_t kLeastPassBytes = 48;

std::int64_t product(const Axes& axes) {
  std::int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

/// The part of a reduction that one tile does: results [first, last) from elements [begin, end) of
/// the reduced axes.
struct Block {
  TileId tile{};
  std::int64_t first, last;
  std::int64_t begin, end;
  bool is_copy = false;  ///< of what another tile does

  [[nodiscard]] std::int64_t width() const { return last - first; }
  [[nodiscard]] std::int64_t depth() const { return end - begin; }
};

/// Axes with row-major destinations, the innermost `unit` apart.
Axes with_destinations(Axes axes, std::int64_t unit) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    axis->to = unit;
    unit *= axis->size;
  }
  return axes;
}

class ReductionLowering {
 public:
  ReductionLowering(ProgramBuilder& builder, Values& values, const Reduction& reduction,
                    const Origin& origin)
      : builder_(builder), values_(values), r_(reduction), origin_(origin) {}

  Reduced run() {
    const std::int64_t results = product(r_.kept);
    const std::int64_t reduced = product(r_.reduced);
    const ReductionCut cut = this->cut();
    if (cut.splits > 1 || cut.width < r_.layout->intervals()[0].count) {
      return in_stages(cut, results, reduced);
    }
    return gather_and_reduce(whole_rows(*r_.layout, reduced), r_.layout, 1);
  }

  /// Reduces what each tile holds of operands that lie in `layout`, and combines the parts of one
  /// result. Empty when the layout cuts rows where that does not help, or tiles hold whole rows of
  /// several operands, which workers do not share, and other tiles had better take some.
  std::optional<Reduced> run_in_place(const std::vector<ValueId>& operands,
                                      const LayoutPtr& layout) {
    const std::optional<InPlace> plan = in_place(layout);
    if (!plan) return std::nullopt;
    if (plan->is_last && operands.size() > 1 && cut().cycles < estimate(layout)) {
      return std::nullopt;
    }
    const Reduced reduced = reduce_stored(*plan, operands, layout);
    return plan->is_last ? reduced : finish({reduced}, plan->kept, plan->reduced);
  }

  /// Says that elements are combined one after another where parts of them would be faster.
  void note_order() {
    if (may_split()) return;
    const std::int64_t in_order = cut(false).cycles, in_parts = cut(true).cycles;
    if (in_order <= in_parts) return;
    const bool is_single = r_.combine.reduce.dtypes.size() == 1;
    builder_.add_event(
        CompileEvent::Kind::kSlowRoute, origin_,
        fmt::format("elements of a result are combined one after another on one tile, in an "
                    "estimated {} cycles, not in parts on many, {} cycles: {}",
                    in_order, in_parts,
                    is_single ? "the function is not one op of both that has an identity"
                              : "initial values that are not constant, or do not combine with "
                                "themselves to themselves, may take part only once"),
        is_single ? "a function of one op, such as add or maximum, would help"
                  : "initial values that change nothing, combined with others afterwards, would "
                    "help");
  }

  /// Estimated cycles with operands that lie in `layout`, or nowhere yet; what combines the parts
  /// of one result is left out where they do.
  [[nodiscard]] std::int64_t estimate(const LayoutPtr& layout) {
    if (const auto plan = layout == nullptr ? std::nullopt : in_place(layout)) {
      const ReduceCosts costs = this->costs(first(), !plan->results_inside);
      std::int64_t most = 0;
      for (const Block& block : plan->blocks) {
        most = std::max(most, costs.cycles(block.width(), block.depth()));
      }
      return most;
    }
    return cut().cycles;
  }

 private:
  /// How operands are reduced where they lie: results of `blocks`, in the layout `to`. Those that
  /// are not the last are numbered by `kept` and `reduced`.
  struct InPlace {
    std::vector<Block> blocks;
    LayoutPtr to;
    bool is_last = true, results_inside = false;
    Axes kept = {}, reduced = {};
  };

  [[nodiscard]] std::optional<InPlace> in_place(const LayoutPtr& layout) {
    const std::int64_t results = product(r_.kept);
    const std::int64_t reduced = product(r_.reduced);
    // Neither in another order nor padded.
    if (!layout->is_row_major() || layout->elements() != results * reduced) return std::nullopt;
    const std::vector<Interval>& intervals = layout->intervals();
    std::vector<Block> blocks;
    if (are_dense(r_.reduced, 1) && are_dense(r_.kept, reduced)) {
      if (const LayoutPtr whole = builder_.layouts().divided(layout, reduced)) {
        return InPlace{whole_rows(*whole, reduced), whole};
      }
      const auto count = static_cast<std::int64_t>(intervals.size());
      // Tiles that hold one element each have nothing to combine.
      if (!may_split() || count == layout->elements() || count % results != 0 ||
          !lies_in_rows(*layout, reduced)) {
        return std::nullopt;
      }
      for (const Interval& i : intervals) {
        const std::int64_t row = i.begin / reduced;
        if (static_cast<std::int64_t>(blocks.size()) / (count / results) != row) {
          return std::nullopt;
        }
        blocks.push_back(
            {i.tiles[0], row, row + 1, i.begin % reduced, i.begin % reduced + i.count});
      }
      const LayoutPtr to = one_after_another(blocks);
      return InPlace{.blocks = std::move(blocks),
                     .to = to,
                     .is_last = false,
                     .kept = {{results, count / results, 0}},
                     .reduced = {{count / results, 1, 0}}};
    }
    if (are_dense(r_.kept, 1) && are_dense(r_.reduced, results)) {
      if (!builder_.layouts().divided(layout, results)) return std::nullopt;
      for (const Interval& i : intervals) {
        blocks.push_back({i.tiles[0], 0, results, i.begin / results, i.end() / results});
      }
      const auto count = static_cast<std::int64_t>(blocks.size());
      if (count > 1 && (!may_split() || reduced < 2 * count)) return std::nullopt;
      const LayoutPtr to = one_after_another(blocks);
      return InPlace{.blocks = std::move(blocks),
                     .to = to,
                     .is_last = count == 1,
                     .results_inside = true,
                     .kept = {{results, 1, 0}},
                     .reduced = {{count, results, 0}}};
    }
    return std::nullopt;
  }

  /// What reduces elements as they come.
  [[nodiscard]] const vertex::Reduce& first() const {
    return r_.converting ? *r_.converting : r_.combine.reduce;
  }

  [[nodiscard]] ReductionCut cut() const { return cut(may_split()); }
  [[nodiscard]] ReductionCut cut(bool may_split) const {
    const bool in_rows = reduced_axes_are_inner();
    return cut_reduction(builder_.machine(), {product(r_.kept), product(r_.reduced)},
                         r_.layout->intervals()[0].count, may_split, in_rows,
                         costs(first(), in_rows), costs(r_.combine.reduce, in_rows));
  }

  /// Whether parts of the reduced elements may be combined on their own: each with an identity, or
  /// with initial values of several operands, as those of arg-max, that may take part more than
  /// once. Others are combined in order.
  [[nodiscard]] bool may_split() const {
    return r_.combine.identity.has_value() ||
           (r_.combine.reduce.dtypes.size() > 1 && r_.may_repeat_initial);
  }

  /// All of the results that lie in a layout, on each tile that has a copy of them.
  static std::vector<Block> whole_rows(const Layout& layout, std::int64_t reduced) {
    std::vector<Block> blocks;
    for (const Interval& i : layout.intervals()) {
      for (const TileId tile : i.tiles) {
        blocks.push_back({tile, i.begin, i.end(), 0, reduced, tile != i.tiles[0]});
      }
    }
    return blocks;
  }

  /// Whether row-major axes cover numbers that are `unit` apart.
  static bool are_dense(const Axes& axes, std::int64_t unit) {
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      if (axis->size > 1 && axis->from != unit) return false;
      unit *= axis->size;
    }
    return true;
  }

  /// A layout of the results of all blocks in their order.
  LayoutPtr one_after_another(const std::vector<Block>& blocks) {
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for (const Block& block : blocks) {
      intervals.push_back({begin, block.width(), {block.tile}});
      begin += block.width();
    }
    return builder_.layouts().with(std::move(intervals));
  }

  Reduced reduce_stored(const InPlace& plan, const std::vector<ValueId>& operands,
                        const LayoutPtr& from) {
    std::vector<BufferId> inputs;
    Time ready;
    for (const ValueId operand : operands) {
      const StoredValue stored = values_.stored(operand, from, origin_);
      inputs.push_back(stored.buffer);
      ready = std::max(ready, stored.time);
    }
    return launch(plan.blocks, inputs, plan.to, plan.is_last, plan.results_inside,
                  ready.next_round());
  }

  Reduced in_stages(const ReductionCut& cut, std::int64_t results, std::int64_t reduced) {
    const std::int64_t across = divide_up(results, cut.width);
    const std::int64_t depth = divide_up(reduced, cut.splits);
    const std::uint32_t tiles = builder_.layouts().tiles();
    // Far from the results, from an even tile on: equal reductions have equal steps.
    const std::uint32_t base =
        (index(r_.layout->intervals()[0].tiles[0]) + tiles / 2) / 2 * 2 % tiles;
    std::vector<Block> blocks;
    std::vector<Interval> intervals;
    for (std::int64_t j = 0; j < cut.splits; ++j) {
      for (std::int64_t b = 0; b < across; ++b) {
        const auto place = static_cast<std::uint32_t>(b * cut.splits + j);
        const Block block{TileId{(base + place) % tiles}, b * cut.width,
                          std::min((b + 1) * cut.width, results), j * depth,
                          std::min((j + 1) * depth, reduced)};
        intervals.push_back({j * results + block.first, block.width(), {block.tile}});
        blocks.push_back(block);
      }
    }
    const LayoutPtr layout = builder_.layouts().with(std::move(intervals));
    return gather_and_reduce(blocks, layout, cut.splits);
  }

  /// Combines partial results, those of all parts one after another, which `kept` and `reduced`
  /// number.
  Reduced finish(const std::vector<Reduced>& parts, Axes kept, Axes reduced) {
    Reduction last{.combine = r_.combine,
                   .kept = std::move(kept),
                   .reduced = std::move(reduced),
                   .read = {},
                   .initial = r_.initial,
                   .may_repeat_initial = r_.may_repeat_initial,
                   .layout = r_.layout};
    for (std::size_t k = 0; k < r_.read.size(); ++k) {
      last.read.emplace_back([&, k](const Box& box) { return read_parts(parts, k, box); });
    }
    return ReductionLowering(builder_, values_, last, origin_).run();
  }

  /// Gathers what each block needs, and reduces it: blocks of all results for each of `splits`
  /// parts of the elements. Where that would take much of the memory, some elements after others.
  Reduced gather_and_reduce(const std::vector<Block>& blocks, const LayoutPtr& to,
                            std::int64_t splits) {
    const std::int64_t passes = passes_over(blocks);
    if (splits == 1 && passes == 1) return gather_once(blocks, to, true, {});
    if (exceeds_memory(blocks, passes)) return without_passes(blocks, passes);
    std::vector<Reduced> parts;
    Time after;
    for (std::int64_t p = 0; p < passes; ++p) {
      std::vector<Block> cut = blocks;
      for (Block& block : cut) {
        const std::int64_t begin = block.begin, depth = block.depth();
        block.begin = begin + depth * p / passes;
        block.end = begin + depth * (p + 1) / passes;
      }
      parts.push_back(gather_once(cut, to, false, after));
      after = parts.back().time.next_round();
    }
    const std::int64_t results = product(r_.kept);
    return finish(parts, {{results, 1, 0}}, {{splits, results, 0}, {passes, splits * results, 0}});
  }

  /// Whether what all passes give, and the least code and state of each, is more than a tile holds.
  [[nodiscard]] bool exceeds_memory(const std::vector<Block>& blocks, std::int64_t passes) const {
    std::int64_t result_bytes = 0, width = 0;
    for (const DType dtype : r_.combine.reduce.dtypes) {
      result_bytes += static_cast<std::int64_t>(size_of(dtype));
    }
    for (const Block& block : blocks) width = std::max(width, block.width());
    return passes > builder_.machine().tile.memory_bytes / (width * result_bytes + kLeastPassBytes);
  }

  /// In place of passes that cannot fit, what they would have to hold: the image of that is refused
  /// for its size without the time that so many passes take.
  Reduced without_passes(const std::vector<Block>& blocks, std::int64_t passes) {
    const std::int64_t least = builder_.machine().tile.memory_bytes;
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for (const Block& block : blocks) {
      intervals.push_back({begin, std::max(block.width() * passes, least), {block.tile}});
      begin = intervals.back().end();
    }
    const auto layout = std::make_shared<const Layout>(std::move(intervals));
    Reduced reduced;
    for (const DType dtype : r_.combine.reduce.dtypes) {
      const BufferId partials =
          values_.add_temporary(dtype, layout, origin_.name + ".partials", origin_.source);
      builder_.mutable_buffer(partials).is_result = true;
      reduced.results.push_back(
          values_.add_temporary(dtype, r_.layout, origin_.name, origin_.source));
    }
    return reduced;
  }

  /// Copies that read value `k` of parts one after another.
  [[nodiscard]] Reading read_parts(const std::vector<Reduced>& parts, std::size_t k,
                                   const Box& box) const {
    const std::int64_t elements = builder_.buffer(parts[0].results[k]).layout->elements();
    Reading reading{{}, parts.back().time};
    partition(
        box, kFromSide,
        [&](std::int64_t e) {
          return IntervalEnd{static_cast<std::size_t>(e / elements), (e / elements + 1) * elements};
        },
        [&](std::size_t part, Box inside) {
          inside.from -= static_cast<std::int64_t>(part) * elements;
          reading.pieces.push_back({parts[part].results[k], std::move(inside)});
        });
    return reading;
  }

  /// How often blocks gather so that their elements take little memory at once: two of a result or
  /// more, or what is left to combine would be as much.
  [[nodiscard]] std::int64_t passes_over(const std::vector<Block>& blocks) const {
    if (!may_split()) return 1;
    std::int64_t element_bytes = 0;
    for (const DType dtype : r_.combine.reduce.dtypes) {
      element_bytes += static_cast<std::int64_t>(size_of(r_.converting ? r_.element : dtype));
    }
    std::int64_t most = 0, depth = std::numeric_limits<std::int64_t>::max();
    for (const Block& block : blocks) {
      most = std::max(most, block.width() * block.depth() * element_bytes);
      depth = std::min(depth, block.depth());
    }
    return std::clamp(divide_up(most, builder_.machine().tile.memory_bytes / kGatheredShare),
                      std::int64_t{1}, std::max(depth / 2, std::int64_t{1}));
  }

  /// One stage, when what is before `after` has been done.
  Reduced gather_once(const std::vector<Block>& blocks, const LayoutPtr& to, bool is_last,
                      Time after) {
    const bool reduced_inside = reduced_axes_are_inner();
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for (const Block& block : blocks) {
      intervals.push_back({begin, block.width() * block.depth(), {block.tile}});
      begin += block.width() * block.depth();
    }
    const auto layout = std::make_shared<const Layout>(intervals);
    std::vector<BufferId> inputs;
    Time done;
    for (std::size_t k = 0; k < r_.read.size(); ++k) {
      std::vector<Piece> pieces;
      Time ready = after;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (const Box& box : boxes_of(blocks[b], intervals[b].begin, reduced_inside)) {
          Reading reading = r_.read[k](box);
          ready = std::max(ready, reading.ready);
          std::ranges::move(reading.pieces, std::back_inserter(pieces));
        }
      }
      const DType dtype = r_.converting ? r_.element : r_.combine.reduce.dtypes[k];
      inputs.push_back(
          values_.add_temporary(dtype, layout, origin_.name + ".gathered", origin_.source));
      done = std::max(done, move(builder_, inputs.back(), pieces, ready, origin_));
    }
    return launch(blocks, inputs, to, is_last, !reduced_inside, done);
  }

  [[nodiscard]] bool reduced_axes_are_inner() const {
    const auto least = [](const Axes& axes) {
      std::int64_t stride = std::numeric_limits<std::int64_t>::max();
      for (const Axis& axis : axes) {
        if (axis.size > 1) stride = std::min(stride, std::abs(axis.from));
      }
      return stride;
    };
    return least(r_.reduced) < least(r_.kept);
  }

  /// Copies of a block's elements to [width][depth] or [depth][width] from element `begin`.
  [[nodiscard]] std::vector<Box> boxes_of(const Block& block, std::int64_t begin,
                                          bool reduced_inside) const {
    const std::int64_t kept_unit = reduced_inside ? block.depth() : 1;
    const std::int64_t reduced_unit = reduced_inside ? 1 : block.width();
    std::vector<Box> boxes;
    for (const Box& kept :
         range_boxes(with_destinations(r_.kept, kept_unit), block.first, block.last)) {
      for (const Box& reduced :
           range_boxes(with_destinations(r_.reduced, reduced_unit), block.begin, block.end)) {
        Box box{kept.from + reduced.from,
                begin + kept.to - block.first * kept_unit + reduced.to - block.begin * reduced_unit,
                kept.axes};
        box.axes.insert(box.axes.end(), reduced.axes.begin(), reduced.axes.end());
        boxes.push_back(simplified(std::move(box)));
      }
    }
    return boxes;
  }

  [[nodiscard]] ReduceCosts costs(const vertex::Reduce& reduce, bool in_rows) const {
    const bool may_cut = r_.combine.reduce.dtypes.size() == 1 && r_.combine.identity.has_value();
    const vertex::Reduce& combine = r_.combine.reduce;
    return {builder_.machine(), reduce, in_rows, may_cut, &reduce == &combine ? nullptr : &combine};
  }

  /// Reduces blocks whose elements are in `inputs` to results in the layout `to`; few long rows in
  /// two launches.
  Reduced launch(const std::vector<Block>& blocks, const std::vector<BufferId>& inputs,
                 const LayoutPtr& to, bool is_last, bool results_inside, Time ready) {
    // A single column is a row.
    const auto is_single = [](const Block& block) { return block.width() == 1; };
    results_inside = results_inside && !std::ranges::all_of(blocks, is_single);
    const ReduceCosts costs = this->costs(reduce_of(inputs), !results_inside);
    std::vector<Block> parts, whole, at_once;
    for (const Block& block : blocks) {
      // Parts are of rows, which columns of other blocks are not.
      const std::int64_t count = results_inside ? 1 : costs.parts(block.width(), block.depth());
      if (count == 1) {
        at_once.push_back(block);
        continue;
      }
      parts.push_back(
          {block.tile, 0, block.width() * count, 0, block.depth() / count, block.is_copy});
      whole.push_back({block.tile, block.first, block.last, 0, count, block.is_copy});
    }
    std::vector<BufferId> results = add_results(to, is_last);
    Time time = ready;
    if (!at_once.empty()) {
      time = launch_once(at_once, inputs, results, is_last, results_inside, ready);
    }
    if (!parts.empty()) {
      const std::vector<BufferId> partials = add_results(one_after_another(parts), false);
      const Time first = launch_once(parts, inputs, partials, false, false, ready);
      time =
          std::max(time, launch_once(whole, partials, results, is_last, false, first.next_round()));
    }
    return {std::move(results), time};
  }

  std::vector<BufferId> add_results(const LayoutPtr& layout, bool is_last) {
    std::vector<BufferId> results;
    for (const DType dtype : r_.combine.reduce.dtypes) {
      results.push_back(values_.add_temporary(
          dtype, layout, origin_.name + (is_last ? "" : ".partials"), origin_.source));
    }
    return results;
  }

  /// Reduces blocks to `results` from `ready` on, or when initial values are there.
  Time launch_once(const std::vector<Block>& blocks, const std::vector<BufferId>& inputs,
                   const std::vector<BufferId>& results, bool is_last, bool results_inside,
                   Time ready) {
    Time time = ready;
    const std::size_t count = inputs.size();
    std::vector<Splat> initial = r_.initial;
    if (!is_last && r_.combine.identity) initial = {Splat{.bits = r_.combine.identity}};
    std::vector<vertex::Reduce::Value> reduced(count);
    std::vector<BufferId> reads = inputs;
    for (std::size_t k = 0; k < count; ++k) {
      reduced[k].output = StateWord::address(results[k]);
      reduced[k].input = StateWord::address(inputs[k]);
      if (initial[k].bits) {
        reduced[k].constant = static_cast<std::uint32_t>(*initial[k].bits);
        continue;
      }
      const StoredValue spread =
          values_.spread(initial[k], builder_.buffer(results[k]).layout, origin_);
      time = std::max(time, spread.time);
      reduced[k].initial = StateWord::address(spread.buffer);
      reads.push_back(spread.buffer);
    }
    const vertex::Reduce& used = reduce_of(inputs);
    std::map<vertex::ReduceBy, ComputeSet> sets;
    for (const Block& block : blocks) {
      ComputeSet& set = sets[way_of(block, results_inside, used)];
      const vertex::Reduce::State state{.outer = results_inside ? 1 : block.width(),
                                        .reduced = block.depth(),
                                        .inner = results_inside ? block.width() : 1,
                                        .values = reduced};
      set.launches.push_back({block.tile, state.words()});
      if (!block.is_copy && r_.is_useful) {
        set.flops += static_cast<std::uint64_t>(block.width() *
                                                std::max<std::int64_t>(block.depth() - 1, 0)) *
                     arithmetic_on_floats(used.expression);
      }
    }
    for (auto& [by, set] : sets) {
      vertex::Reduce reduce = used;
      reduce.by = by;
      set.name = origin_.name;
      set.operation = origin_.operation;
      set.source = origin_.source;
      const std::string key = converts(inputs)
                                  ? "reduce " + expression_key(reduce.expression, reduce.outputs)
                                  : r_.combine.key;
      constexpr std::array kWays = {"", " rows", " odd row"};
      set.codelet =
          builder_.add_codelet(key + kWays.at(static_cast<std::size_t>(by)), std::move(reduce));
      set.reads = reads;
      set.writes = results;
      builder_.add_compute(time, std::move(set));
    }
    return time;
  }

  /// Whether elements are still to be converted, and what reduces them.
  [[nodiscard]] bool converts(const std::vector<BufferId>& inputs) const {
    return r_.converting && builder_.buffer(inputs[0]).type.dtype == r_.element;
  }
  [[nodiscard]] const vertex::Reduce& reduce_of(const std::vector<BufferId>& inputs) const {
    return converts(inputs) ? *r_.converting : r_.combine.reduce;
  }

  [[nodiscard]] static vertex::ReduceBy way_of(const Block& block, bool results_inside,
                                               const vertex::Reduce& reduce) {
    if (results_inside && block.width() != 1) return vertex::ReduceBy::kColumns;
    return vertex::reduce_by(reduce.expression, reduce.outputs, reduce.dtypes,
                             static_cast<std::uint64_t>(block.width()),
                             static_cast<std::uint64_t>(block.depth()));
  }

  ProgramBuilder& builder_;
  Values& values_;
  const Reduction& r_;
  const Origin& origin_;
};

}  // namespace

Reduced lower_reduction(ProgramBuilder& builder, Values& values, const Reduction& reduction,
                        const std::vector<ValueId>& operands, const Origin& origin) {
  ReductionLowering lowering(builder, values, reduction, origin);
  lowering.note_order();
  if (const LayoutPtr layout = values.layout(operands[0])) {
    if (auto done = lowering.run_in_place(operands, layout)) return *std::move(done);
  }
  return lowering.run();
}

std::int64_t estimate_reduction(ProgramBuilder& builder, Values& values, const Reduction& reduction,
                                const LayoutPtr& layout) {
  return ReductionLowering(builder, values, reduction, {}).estimate(layout);
}

}  // namespace superstep
