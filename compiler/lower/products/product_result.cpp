#include "compiler/lower/products/product_result.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/divide.h"
#include "compiler/lower/moves/copy_elements.h"
#include "compiler/lower/reductions/reduce.h"
#include "compiler/vertex/add_parts.h"

namespace superstep {
namespace {

/// A result of few elements in rows of so many is added row by row, on more tiles than it takes
/// otherwise [chosen on 12 generated layers on small64: device cycles above the least are 0.01 % on
/// average with rows of less than 16, 0.02 % with 32, 0.1 % with 64; the same with 64 to 1,000
/// rows].
constexpr std::int64_t kLeastRow = 8, kMostRow = 32, kMostRows = 256;

bool adds_rows(ProgramBuilder& builder, const TensorType& type) {
  if (type.shape.empty() || type.dtype != DType::kF32) return false;
  const std::int64_t row = type.shape.back();
  return row >= kLeastRow && row < kMostRow &&
         type.elements() / row <= std::min<std::int64_t>(kMostRows, builder.layouts().tiles());
}

class Finish {
 public:
  Finish(ProgramBuilder& builder, Values& values, const ProductResult& result,
         const Product& product)
      : builder_(builder), values_(values), result_(result), product_(product) {}

  /// Leaves the result in the order of the blocks, each block on the tiles that made parts of it.
  void keep_blocks(const Multiplied& multiplied) {
    const std::int64_t splits = product_.plan.depth_splits;
    const LayoutPtr layout = result_blocks_layout(builder_, product_, *result_.dimensions());
    std::vector<std::vector<Box>> boxes(static_cast<std::size_t>(splits));
    const std::vector<Interval>& made = builder_.buffer(multiplied.products).layout->intervals();
    const std::size_t blocks = made.size() / boxes.size();
    const std::int64_t area = product_.plan.batches * product_.plan.rows * product_.plan.columns;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::int64_t to = static_cast<std::int64_t>(i % blocks) * area;
      boxes[i / blocks].push_back({made[i].begin, to, {{made[i].count, 1, 1}}});
    }
    BufferId sums = multiplied.products;
    Time time = multiplied.time;
    if (splits == 1) {
      builder_.mutable_buffer(sums).layout = layout;
      builder_.mutable_buffer(sums).type = type();
    } else {
      sums =
          values_.add_temporary(DType::kF32, layout, product_.origin.name, product_.origin.source);
      time = sum_parts(boxes, {multiplied.products, multiplied.time}, sums, DType::kF32);
    }
    if (dtype() != DType::kF32) sums = convert(sums, type(), time = time.next_round());
    values_.set_stored(result_.target, sums, time);
  }

  void finish(const Multiplied& multiplied, DType partial) {
    const TensorType& type = this->type();
    const BufferId products = multiplied.products;
    const auto boxes = results_by_depth(*builder_.buffer(products).layout);
    if (product_.plan.depth_splits == 1) {
      const LayoutPtr layout = partial == dtype() ? result_layout(boxes[0], products) : nullptr;
      if (layout) {
        builder_.mutable_buffer(products).layout = layout;
        builder_.mutable_buffer(products).type = type;
        values_.set_stored(result_.target, products, multiplied.time);
        return;
      }
      std::vector<Piece> pieces;
      for (const Box& box : boxes[0]) pieces.push_back({products, box});
      if (partial == dtype()) {
        values_.set_view(result_.target, std::move(pieces), multiplied.time);
        return;
      }
      const BufferId whole =
          values_.add_temporary(partial, values_.assigned().in_order(result_.target),
                                product_.origin.name, product_.origin.source);
      const Time time = move(builder_, whole, pieces, multiplied.time, product_.origin);
      values_.set_stored(result_.target, convert(whole, type, time.next_round()),
                         time.next_round());
      return;
    }
    const BufferId sums =
        values_.add_temporary(partial, sums_layout(), product_.origin.name, product_.origin.source);
    const StoredValue products_there{products, multiplied.time};
    const Time time = product_.plan.sums.runs == 1
                          ? sum_parts(boxes, products_there, sums, partial)
                          : sum_in_runs(boxes, products_there, sums, partial);
    if (partial == dtype()) {
      values_.set_stored(result_.target, sums, time);
    } else {
      values_.set_stored(result_.target, convert(sums, type, time), time);
    }
  }

 private:
  [[nodiscard]] const TensorType& type() const { return values_.type(result_.target); }

  /// Where the products of parts of the depth are added.
  [[nodiscard]] LayoutPtr sums_layout() {
    const LayoutPtr assigned = values_.assigned().in_order(result_.target);
    if (product_.plan.sums.runs > 1 || !adds_rows(builder_, type()) ||
        assigned->intervals()[0].count == type().shape.back()) {
      return assigned;
    }
    const std::int64_t row = type().shape.back(), rows = type().elements() / row;
    // Behind the products, from an even tile on.
    const auto first =
        product_.first_tile + static_cast<std::uint32_t>((product_.plan.tiles() + 1) / 2 * 2);
    std::vector<Interval> intervals;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint32_t tile =
          (first + static_cast<std::uint32_t>(r)) % builder_.layouts().tiles();
      intervals.push_back({r * row, row, {TileId{tile}}});
    }
    return builder_.layouts().with(std::move(intervals));
  }

  /// Copies of every block of products to its place in the result, by part of the depth.
  [[nodiscard]] std::vector<std::vector<Box>> results_by_depth(const Layout& products) const {
    std::vector<std::vector<Box>> boxes(static_cast<std::size_t>(product_.plan.depth_splits));
    std::size_t number = 0;
    for (const ProductBlock& block : product_.blocks()) {
      const std::int64_t begin = products.intervals()[number++].begin;
      const std::int64_t group = product_.group_of(block), rows = product_.padded_rows(block);
      for (std::int64_t g = 0; g < product_.groups_of(block); ++g) {
        const std::int64_t first = block.columns.first + g * group;
        const IndexRange columns{first, std::min(first + group, block.columns.last)};
        std::vector<Box> parts{{begin + g * rows * group, 0, {}}};
        cut(parts, result_.batch, block.batch, product_.result_area(block));
        cut(parts, result_.rows, block.rows, group);
        cut(parts, result_.columns, columns, 1);
        for (Box& box : parts) {
          boxes[static_cast<std::size_t>(block.depth_part)].push_back(simplified(std::move(box)));
        }
      }
    }
    return boxes;
  }

  /// Nests a range of the result's axes into `parts`; neighbours lie `unit` apart in the products.
  static void cut(std::vector<Box>& parts, Axes axes, IndexRange range, std::int64_t unit) {
    std::int64_t from = unit;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      axis->from = from;
      from *= axis->size;
    }
    std::vector<Box> grown;
    for (const Box& inner : range_boxes(axes, range.first, range.last)) {
      for (Box box : parts) {
        box.from += inner.from - range.first * unit;
        box.to += inner.to;
        box.axes.insert(box.axes.end(), inner.axes.begin(), inner.axes.end());
        grown.push_back(std::move(box));
      }
    }
    parts = std::move(grown);
  }

  /// The products as a layout of the result; null when a block is no interval of it.
  LayoutPtr result_layout(const std::vector<Box>& boxes, BufferId products) {
    std::vector<Interval> intervals = builder_.buffer(products).layout->intervals();
    if (boxes.size() != intervals.size()) return nullptr;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Axis all{intervals[i].count, 1, 1};
      if (boxes[i].elements() != all.size || (all.size > 1 && boxes[i].axes != Axes{all})) {
        return nullptr;
      }
      intervals[i].begin = boxes[i].to;
    }
    std::ranges::sort(intervals, {}, &Interval::begin);
    return builder_.layouts().with(std::move(intervals));
  }

  using BoxesByPart = std::vector<std::vector<Box>>;

  /// Adds runs of consecutive parts first, on other tiles, then their sums.
  Time sum_in_runs(const BoxesByPart& boxes, const StoredValue& products, BufferId sums,
                   DType partial) {
    const auto& [runs, in_run, width, cycles] = product_.plan.sums;
    const std::int64_t results = type().elements(), parts = std::ssize(boxes);
    const std::int64_t tiles = builder_.layouts().tiles();
    std::vector<Interval> intervals;
    std::vector<std::int64_t> counts;
    for (std::int64_t r = 0; r < runs; ++r) {
      for (std::int64_t first = 0; first < results; first += width) {
        const std::int64_t tile = (product_.first_tile + std::ssize(intervals)) % tiles;
        intervals.push_back({r * results + first,
                             std::min(width, results - first),
                             {TileId{static_cast<std::uint32_t>(tile)}}});
        counts.push_back(std::min(in_run, parts - r * in_run));
      }
    }
    BoxesByPart in_runs(static_cast<std::size_t>(in_run));
    for (std::int64_t p = 0; p < parts; ++p) {
      for (Box box : boxes[static_cast<std::size_t>(p)]) {
        box.to += p / in_run * results;
        in_runs[static_cast<std::size_t>(p % in_run)].push_back(std::move(box));
      }
    }
    const BufferId of_runs =
        values_.add_temporary(partial, std::make_shared<const Layout>(std::move(intervals)),
                              product_.origin.name + ".sums", product_.origin.source);
    const Time time = sum_parts(in_runs, products, of_runs, partial, counts);
    BoxesByPart of_run;
    for (std::int64_t r = 0; r < runs; ++r) {
      of_run.push_back({simplified({r * results, 0, {{results, 1, 1}}})});
    }
    return sum_parts(of_run, {of_runs, time}, sums, partial);
  }

  /// Adds parts: `boxes` copy them to elements of `sums`. These lie [parts][elements] on the tiles
  /// of the sums, then are added in ascending order of parts: all, or so many on each tile.
  Time sum_parts(const BoxesByPart& boxes, const StoredValue& products, BufferId sums,
                 DType partial, std::vector<std::int64_t> counts = {}) {
    const std::int64_t most = std::ssize(boxes);
    const LayoutPtr layout = builder_.buffer(sums).layout;
    counts.resize(layout->intervals().size(), most);
    const bool in_groups = partial == DType::kF32 && has_interleaved_memory(builder_.machine());
    const std::int64_t unit = in_groups ? vertex::kAddPartsGroup : 1;
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for (const Interval& interval : layout->intervals()) {
      intervals.push_back({begin, round_up(interval.count, unit) * most, interval.tiles});
      begin = intervals.back().end();
    }
    const BufferId received =
        values_.add_temporary(partial, std::make_shared<const Layout>(intervals),
                              product_.origin.name + ".parts", product_.origin.source);
    Parts parts{layout, most};
    std::vector<Piece> pieces;
    for (std::uint32_t part = 0; part < boxes.size(); ++part) {
      for (const Box& box : boxes[part]) {
        pieces.push_back({products.buffer, box});
        parts.of_piece.push_back(part);
      }
    }
    const Time time = move(builder_, received, parts, pieces, products.time, product_.origin);
    if (in_groups) {
      builder_.mutable_buffer(received).region = Buffer::Region::kInterleaved;
      add_parts(received, sums, counts, time);
    } else {
      add_up(received, sums, counts, partial, time);
    }
    return time;
  }

  [[nodiscard]] ComputeSet sum_set(BufferId received, BufferId sums, std::uint32_t codelet) const {
    return {.name = product_.origin.name + ".sum",
            .operation = product_.origin.operation,
            .source = product_.origin.source,
            .codelet = codelet,
            .launches = {},
            .reads = {received},
            .writes = {sums}};
  }

  void add_parts(BufferId received, BufferId sums, const std::vector<std::int64_t>& counts,
                 Time time) {
    std::map<std::int64_t, ComputeSet> sets;  // by parts
    const std::int64_t workers = builder_.machine().tile.workers;
    const std::vector<Interval>& intervals = builder_.buffer(sums).layout->intervals();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Interval& interval = intervals[i];
      const std::int64_t parts = counts[i];
      const auto [at, is_new] = sets.try_emplace(parts);
      ComputeSet& set = at->second;
      if (is_new) {
        set = sum_set(
            received, sums,
            builder_.add_codelet("add parts " + std::to_string(parts), vertex::AddParts{parts}));
      }
      const vertex::AddParts::State state{
          .sums = round_up(interval.count, 2), .from = received, .to = sums};
      set.launches.push_back({.tile = interval.tiles[0],
                              .state = state.words(parts, workers),
                              .worker_words = vertex::kAddPartsStateWords});
    }
    for (auto& [parts, set] : sets) builder_.add_compute(time, std::move(set));
  }

  void add_up(BufferId received, BufferId sums, const std::vector<std::int64_t>& counts,
              DType dtype, Time time) {
    const Combine combine = combine_with(vertex::Primitive::kAdd, dtype);
    ComputeSet set = sum_set(received, sums, builder_.add_codelet(combine.key, combine.reduce));
    const std::vector<Interval>& intervals = builder_.buffer(sums).layout->intervals();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Interval& interval = intervals[i];
      const vertex::Reduce::State state{
          .outer = 1,
          .reduced = counts[i],
          .inner = interval.count,
          .values = {{.constant = static_cast<std::uint32_t>(*combine.identity),
                      .initial = {},
                      .output = StateWord::address(sums),
                      .input = StateWord::address(received)}}};
      set.launches.push_back({interval.tiles[0], state.words()});
    }
    builder_.add_compute(time, std::move(set));
  }

  BufferId convert(BufferId sums, const TensorType& type, Time time) {
    const BufferId converted = values_.add_temporary(type.dtype, builder_.buffer(sums).layout,
                                                     product_.origin.name, product_.origin.source);
    convert_elements(
        builder_, sums, DType::kF32, converted, type.dtype,
        {product_.origin.name + ".convert", product_.origin.operation, product_.origin.source},
        time);
    return converted;
  }
  [[nodiscard]] DType dtype() const { return type().dtype; }

  ProgramBuilder& builder_;
  Values& values_;
  const ProductResult& result_;
  const Product& product_;
};

/// The least stride of some axes in the result.
std::int64_t nearest(const Axes& axes) {
  std::int64_t stride = std::numeric_limits<std::int64_t>::max();
  for (const Axis& axis : axes) {
    if (axis.size > 1) stride = std::min(stride, axis.to);
  }
  return stride;
}

}  // namespace

ProductResult ProductResult::of(const PermutedValue& target, const Shape& shape,
                                const Product& product) {
  Shape wanted = shape;
  for (std::size_t d = 0; d < target.permutation.size(); ++d) {
    wanted[d] = shape[static_cast<std::size_t>(target.permutation[d])];
  }
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto from =
        target.permutation.empty() ? d : static_cast<std::size_t>(target.permutation[d]);
    strides[from] = stride;
    stride *= wanted[d];
  }
  ProductResult result{.target = target.value};
  std::size_t d = 0;
  for (auto [axes, own] :
       {std::pair{&product.left.batch, &result.batch}, std::pair{&product.left.free, &result.rows},
        std::pair{&product.right.free, &result.columns}}) {
    for (const Axis& axis : *axes) own->push_back({axis.size, 0, strides[d++]});
  }
  return result;
}

bool ProductResult::columns_are_inside() const { return nearest(columns) <= nearest(rows); }

std::optional<BlockedDimensions> ProductResult::dimensions() const {
  return BlockedDimensions::of({batch, rows, columns}, kToSide);
}

std::int64_t ProductResult::per_tile(ProgramBuilder& builder, const Values& values) const {
  const TensorType& type = values.type(target);
  return adds_rows(builder, type) ? type.shape.back() : kept_per_tile(values);
}

std::int64_t ProductResult::kept_per_tile(const Values& values) const {
  return values.assigned().in_order(target)->intervals()[0].count;
}

void ProductResult::finish(ProgramBuilder& builder, Values& values, const Product& product,
                           const Multiplied& multiplied, DType partial) const {
  Finish(builder, values, *this, product).finish(multiplied, partial);
}

void ProductResult::keep_blocks(ProgramBuilder& builder, Values& values, const Product& product,
                                const Multiplied& multiplied) const {
  Finish(builder, values, *this, product).keep_blocks(multiplied);
}

}  // namespace superstep
