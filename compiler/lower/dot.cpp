#include "compiler/lower/dot.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compiler/lower/matmul_kernel.h"
#include "compiler/lower/reduce.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

using Dimensions = std::vector<std::int64_t>;

std::int64_t product(const std::vector<Axis>& axes) {
  std::int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

/// Axes of some dimensions of a row-major tensor, with strides in its elements as sources.
std::vector<Axis> axes_of(const Shape& shape, const Dimensions& dimensions) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  std::vector<Axis> axes;
  for (const std::int64_t d : dimensions) {
    const auto at = static_cast<std::size_t>(d);
    axes.push_back({shape[at], strides[at], 0});
  }
  return axes;
}

Dimensions others(const Shape& shape, const Dimensions& a, const Dimensions& b) {
  Dimensions rest;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
    if (std::ranges::find(a, d) == a.end() && std::ranges::find(b, d) == b.end()) rest.push_back(d);
  }
  return rest;
}

const Dimensions& dimensions(const Op& op, std::string_view name) {
  static const Dimensions kNone;
  const auto at = op.attributes.find(name);
  return at == op.attributes.end() ? kNone : std::get<Dimensions>(at->second);
}

void set_destinations(std::vector<Axis>& axes, std::int64_t unit) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    axis->to = unit;
    unit *= axis->size;
  }
}

/// Numbers [first, last) of one of the four index spaces.
struct Range {
  std::int64_t first = 0, last = 0;
  [[nodiscard]] std::int64_t size() const { return last - first; }
};

Range part(std::int64_t number, std::int64_t block, std::int64_t total) {
  return {number * block, std::min((number + 1) * block, total)};
}

/// Boxes of three nested index ranges, each with its own axes and its own unit on the destination
/// side.
struct Nest {
  std::vector<Axis> axes;
  Range range;
  std::int64_t unit = 1;
};

std::vector<Box> nested_boxes(const std::vector<Nest>& nests, std::int64_t to) {
  std::vector<Box> boxes{{0, to, {}}};
  for (Nest nest : nests) {
    set_destinations(nest.axes, nest.unit);
    std::vector<Box> grown;
    for (const Box& inner : range_boxes(nest.axes, nest.range.first, nest.range.last)) {
      for (Box box : boxes) {
        box.from += inner.from;
        box.to += inner.to - nest.range.first * nest.unit;
        box.axes.insert(box.axes.end(), inner.axes.begin(), inner.axes.end());
        grown.push_back(std::move(box));
      }
    }
    boxes = std::move(grown);
  }
  return boxes;
}

class ProductLowering {
 public:
  ProductLowering(ProgramBuilder& builder, Values& values, const Op& op)
      : builder_(builder), values_(values), op_(op), origin_(values.origin(op)) {
    const Shape& lhs = values.type(op.operands[0]).shape;
    const Shape& rhs = values.type(op.operands[1]).shape;
    const Dimensions& lb = dimensions(op, "lhs_batching_dimensions");
    const Dimensions& rb = dimensions(op, "rhs_batching_dimensions");
    const Dimensions& lc = dimensions(op, "lhs_contracting_dimensions");
    const Dimensions& rc = dimensions(op, "rhs_contracting_dimensions");
    left_ = {op.operands[0], axes_of(lhs, lb), axes_of(lhs, others(lhs, lb, lc)), axes_of(lhs, lc)};
    right_ = {op.operands[1], axes_of(rhs, rb), axes_of(rhs, others(rhs, rb, rc)),
              axes_of(rhs, rc)};
    sizes_ = {product(left_.batch), product(left_.free), product(right_.free),
              product(left_.depth)};
    input_ = values.type(op.operands[0]).dtype;
    result_ = values.type(op.results[0]).dtype;
  }

  void lower(ValueId target, const std::vector<std::int64_t>& permutation) {
    const TensorType& type = values_.type(target);
    if (type.elements() == 0) return;
    const DType right = values_.type(op_.operands[1]).dtype;
    if (input_ != right || input_ == DType::kI1) {
      throw Unsupported({{op_.location, "product of " + std::string(name_of(input_)) + " and " +
                                            std::string(name_of(right)) +
                                            "; expected two equal dtypes other than i1"}});
    }
    if (sizes_.depth == 0) {
      values_.set_constant(target, HostTensor(type));
      return;
    }
    set_result_axes(permutation);
    swap_to_result_order();
    plan_ = plan_dot(builder_.machine(), sizes_, input_, result_);
    base_ = builder_.layouts().take_tiles(static_cast<std::uint32_t>(plan_.tiles()));
    const bool widens = plan_.depth_splits > 1 && is_float(input_);
    const DType partial = widens ? DType::kF32 : result_;
    kernel_ = MatmulKernel::of(input_, partial);
    const auto [a, b] = gather_operands();
    const BufferId products = add_products(partial);
    multiply(a, b, products);
    finish(target, type, products, partial);
  }

 private:
  struct Side {
    ValueId operand{};
    std::vector<Axis> batch, free, depth;
  };

  /// Strides of batch, row and column axes in the result as it is wanted.
  void set_result_axes(const std::vector<std::int64_t>& permutation) {
    const Shape& shape = values_.type(op_.results[0]).shape;
    Shape wanted = shape;
    for (std::size_t d = 0; d < permutation.size(); ++d) {
      wanted[d] = shape[static_cast<std::size_t>(permutation[d])];
    }
    std::vector<std::int64_t> strides(shape.size(), 1);
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const auto from = permutation.empty() ? d : static_cast<std::size_t>(permutation[d]);
      strides[from] = stride;
      stride *= wanted[d];
    }
    std::size_t d = 0;
    for (auto [axes, result] :
         {std::pair{&left_.batch, &result_batch_}, std::pair{&left_.free, &result_rows_},
          std::pair{&right_.free, &result_columns_}}) {
      for (const Axis& axis : *axes) result->push_back({axis.size, 0, strides[d++]});
    }
  }

  [[nodiscard]] TileId tile(std::int64_t batch, std::int64_t depth, std::int64_t row,
                            std::int64_t column) const {
    // Columns innermost: the two tiles of a pair share their rows.
    const std::int64_t place =
        ((batch * plan_.depth_splits + depth) * plan_.row_splits + row) * plan_.column_splits +
        column;
    return TileId{(base_ + static_cast<std::uint32_t>(place)) % builder_.layouts().tiles()};
  }

  /// The product's rows become its columns when they are neighbours in the result: what a tile
  /// computes then goes there in longer runs.
  void swap_to_result_order() {
    const auto least = [](const std::vector<Axis>& axes) {
      std::int64_t stride = std::numeric_limits<std::int64_t>::max();
      for (const Axis& axis : axes) {
        if (axis.size > 1) stride = std::min(stride, axis.to);
      }
      return stride;
    };
    if (least(result_columns_) <= least(result_rows_)) return;
    std::swap(left_, right_);
    std::swap(result_rows_, result_columns_);
    std::swap(sizes_.rows, sizes_.columns);
  }

  /// The blocks of one operand: intervals [batch][row or column][depth] or, `depth_outside`,
  /// [batch][depth][row or column].
  struct Blocks {
    std::vector<Interval> intervals;
    std::vector<Piece> pieces;
    Time ready;
    bool depth_outside = false;
    std::vector<Box> transpositions;  ///< from these intervals to those with the depth inside
  };

  Blocks blocks_of(const Side& side, bool is_left, bool depth_outside) {
    const std::int64_t free_splits = is_left ? plan_.row_splits : plan_.column_splits;
    const std::int64_t free_total = is_left ? sizes_.rows : sizes_.columns;
    const std::int64_t free_block = is_left ? plan_.rows : plan_.columns;
    const std::int64_t sharers = is_left ? plan_.column_splits : plan_.row_splits;
    Blocks blocks;
    blocks.depth_outside = depth_outside;
    std::int64_t begin = 0;
    for (std::int64_t ib = 0; ib < plan_.batch_splits; ++ib) {
      const Range batch = part(ib, plan_.batches, sizes_.batches);
      for (std::int64_t ik = 0; ik < plan_.depth_splits; ++ik) {
        const Range depth = part(ik, plan_.depth, sizes_.depth);
        for (std::int64_t f = 0; f < free_splits; ++f) {
          const Range free = part(f, free_block, free_total);
          const std::int64_t area = free.size() * depth.size();
          Interval interval{begin, batch.size() * area, {}};
          for (std::int64_t s = 0; s < sharers; ++s) {
            interval.tiles.push_back(is_left ? tile(ib, ik, f, s) : tile(ib, ik, s, f));
          }
          std::ranges::sort(interval.tiles);
          const std::int64_t free_unit = depth_outside ? 1 : depth.size();
          const std::int64_t depth_unit = depth_outside ? free.size() : 1;
          for (Box& box : nested_boxes({{side.batch, batch, area},
                                        {side.free, free, free_unit},
                                        {side.depth, depth, depth_unit}},
                                       begin)) {
            Reading reading = values_.read(side.operand, simplified(std::move(box)));
            blocks.ready = std::max(blocks.ready, reading.ready);
            std::ranges::move(reading.pieces, std::back_inserter(blocks.pieces));
          }
          blocks.transpositions.push_back(simplified({begin,
                                                      begin,
                                                      {{batch.size(), area, area},
                                                       {free.size(), 1, depth.size()},
                                                       {depth.size(), free.size(), 1}}}));
          begin = interval.end();
          blocks.intervals.push_back(std::move(interval));
        }
      }
    }
    return blocks;
  }

  /// Whether neighbours along the depth are nearer to each other in the source than other
  /// neighbours.
  static bool has_depth_inside(const Blocks& blocks) {
    const Axis* nearest = nullptr;
    for (const Axis& axis : blocks.pieces[0].box.axes) {
      if (axis.from == 0) continue;
      if (nearest == nullptr || std::abs(axis.from) < std::abs(nearest->from)) nearest = &axis;
    }
    return nearest == nullptr || nearest->to == 1;
  }

  /// Both operands where they are multiplied. What lies the other way in its source comes as it is,
  /// in long runs, and is transposed on the tile.
  std::pair<BufferId, BufferId> gather_operands() {
    std::array<Blocks, 2> blocks{blocks_of(left_, true, false), blocks_of(right_, false, false)};
    const Time ready = std::max(blocks[0].ready, blocks[1].ready);
    std::array<BufferId, 2> buffers{};
    for (std::size_t i = 0; i < 2; ++i) {
      if (!has_depth_inside(blocks[i]))
        blocks[i] = blocks_of(i == 0 ? left_ : right_, i == 0, true);
      const auto layout = std::make_shared<const Layout>(blocks[i].intervals);
      const auto add = [&](const char* name) {
        return values_.add_temporary(input_, layout, origin_.name + name, origin_.source);
      };
      buffers[i] = add(i == 0 ? ".rows" : ".columns");
      const BufferId landing = blocks[i].depth_outside ? add(".untransposed") : buffers[i];
      Time time = move(builder_, landing, blocks[i].pieces, ready, origin_);
      if (blocks[i].depth_outside) {
        std::vector<Piece> pieces;
        for (const Box& box : blocks[i].transpositions) pieces.push_back({landing, box});
        time = move(builder_, buffers[i], pieces, time, origin_);
      }
      gathered_ = std::max(gathered_, time);
    }
    return {buffers[0], buffers[1]};
  }

  void for_each_block(const auto& visit) const {
    for (std::int64_t ik = 0; ik < plan_.depth_splits; ++ik) {
      for (std::int64_t ib = 0; ib < plan_.batch_splits; ++ib) {
        for (std::int64_t ir = 0; ir < plan_.row_splits; ++ir) {
          for (std::int64_t ic = 0; ic < plan_.column_splits; ++ic) {
            visit(tile(ib, ik, ir, ic), ik, part(ib, plan_.batches, sizes_.batches),
                  part(ir, plan_.rows, sizes_.rows), part(ic, plan_.columns, sizes_.columns),
                  part(ik, plan_.depth, sizes_.depth));
          }
        }
      }
    }
  }

  /// Elements from one product of a batch to the next: each starts 8-byte aligned, whatever the
  /// dtype.
  static std::int64_t product_stride(Range rows, Range columns) {
    return (rows.size() * columns.size() + 7) / 8 * 8;
  }

  BufferId add_products(DType dtype) {
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for_each_block([&](TileId at, std::int64_t, Range batch, Range rows, Range columns, Range) {
      intervals.push_back({begin, batch.size() * product_stride(rows, columns), {at}});
      begin = intervals.back().end();
    });
    return values_.add_temporary(dtype, std::make_shared<const Layout>(std::move(intervals)),
                                 origin_.name + ".products", origin_.source);
  }

  void multiply(BufferId a, BufferId b, BufferId products) {
    ComputeSet set{.name = origin_.name,
                   .operation = origin_.operation,
                   .source = origin_.source,
                   .codelet = builder_.add_codelet(kernel_.key(), kernel_.spec),
                   .launches = {},
                   .reads = {a, b},
                   .writes = {products}};
    const auto input_bytes = static_cast<std::int64_t>(size_of(input_));
    const std::int64_t result_bytes = builder_.buffer(products).element_bytes;
    for_each_block([&](TileId at, std::int64_t, Range batch, Range rows, Range columns,
                       Range depth) {
      const std::int64_t m = rows.size(), n = columns.size(), k = depth.size();
      for (std::int64_t i = 0; i < batch.size(); ++i) {
        set.launches.push_back(
            {at,
             MatmulKernel::state(
                 m, n, k, StateWord::address(a, i * m * k * input_bytes),
                 StateWord::address(b, i * n * k * input_bytes),
                 StateWord::address(products, i * product_stride(rows, columns) * result_bytes))});
      }
      set.flops += static_cast<std::uint64_t>(2 * batch.size() * m * n * k);
    });
    builder_.add_compute(gathered_, std::move(set));
  }

  /// Copies of every block of products to its place in the result, by part of the depth.
  [[nodiscard]] std::vector<std::vector<Box>> results_by_depth(const Layout& products) const {
    std::vector<std::vector<Box>> boxes(static_cast<std::size_t>(plan_.depth_splits));
    std::size_t number = 0;
    for_each_block([&](TileId, std::int64_t ik, Range batch, Range rows, Range columns, Range) {
      const std::int64_t begin = products.intervals()[number++].begin;
      // Cut in the result's index spaces; each product is dense.
      std::vector<Box> parts{{begin, 0, {}}};
      const auto nest = [&](std::vector<Axis> axes, Range range, std::int64_t unit) {
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
      };
      nest(result_batch_, batch, product_stride(rows, columns));
      nest(result_rows_, rows, columns.size());
      nest(result_columns_, columns, 1);
      for (Box& box : parts) {
        boxes[static_cast<std::size_t>(ik)].push_back(simplified(std::move(box)));
      }
    });
    return boxes;
  }

  /// The products as a layout of the result; null when a block is no interval of it.
  LayoutPtr result_layout(const std::vector<Box>& boxes, BufferId products) {
    std::vector<Interval> intervals = builder_.buffer(products).layout->intervals();
    if (boxes.size() != intervals.size()) return nullptr;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Axis all{intervals[i].count, 1, 1};
      if (boxes[i].elements() != all.size || (all.size > 1 && boxes[i].axes != std::vector{all})) {
        return nullptr;
      }
      intervals[i].begin = boxes[i].to;
    }
    std::ranges::sort(intervals, {}, &Interval::begin);
    return builder_.layouts().with(std::move(intervals));
  }

  void finish(ValueId target, const TensorType& type, BufferId products, DType partial) {
    const auto boxes = results_by_depth(*builder_.buffer(products).layout);
    if (plan_.depth_splits == 1) {
      if (const LayoutPtr layout = result_layout(boxes[0], products)) {
        builder_.mutable_buffer(products).layout = layout;
        builder_.mutable_buffer(products).type = type;
        values_.set_stored(target, products, gathered_);
        return;
      }
      std::vector<Piece> pieces;
      for (const Box& box : boxes[0]) pieces.push_back({products, box});
      values_.set_view(target, std::move(pieces), gathered_);
      return;
    }
    // [parts of the depth][elements] on the tiles of the result, then sums in ascending order of
    // parts.
    const BufferId sums =
        values_.add_temporary(partial, builder_.layouts().of(type), origin_.name, origin_.source);
    const LayoutPtr layout = builder_.buffer(sums).layout;
    std::vector<Interval> intervals;
    for (const Interval& interval : layout->intervals()) {
      intervals.push_back({interval.begin * plan_.depth_splits, interval.count * plan_.depth_splits,
                           interval.tiles});
    }
    const BufferId received =
        values_.add_temporary(partial, std::make_shared<const Layout>(intervals),
                              origin_.name + ".parts", origin_.source);
    std::vector<Piece> pieces;
    for (std::size_t ik = 0; ik < boxes.size(); ++ik) {
      for (const Box& whole : boxes[ik]) {
        partition(
            whole, kToSide, [&](std::int64_t e) { return layout->interval_at(e); },
            [&](std::size_t number, const Box& box) {
              const Interval& interval = layout->intervals()[number];
              Box moved = box;
              moved.to = intervals[number].begin + static_cast<std::int64_t>(ik) * interval.count +
                         (box.to - interval.begin);
              pieces.push_back({products, simplified(std::move(moved))});
            });
      }
    }
    const Time time = move(builder_, received, pieces, gathered_, origin_);
    add_up(received, sums, partial, time);
    if (partial == result_) {
      values_.set_stored(target, sums, time);
    } else {
      values_.set_stored(target, convert(sums, type, time), time);
    }
  }

  void add_up(BufferId received, BufferId sums, DType dtype, Time time) {
    const Combine combine = combine_with(vertex::Primitive::kAdd, dtype);
    ComputeSet set{.name = origin_.name + ".sum",
                   .operation = origin_.operation,
                   .source = origin_.source,
                   .codelet = builder_.add_codelet(combine.key, combine.spec),
                   .launches = {},
                   .reads = {received},
                   .writes = {sums}};
    for (const Interval& interval : builder_.buffer(sums).layout->intervals()) {
      set.launches.push_back(
          {interval.tiles[0],
           {StateWord::number(1), StateWord::number(plan_.depth_splits),
            StateWord::number(interval.count), StateWord::own(28), StateWord::address(sums),
            StateWord::address(received), StateWord::scratch(),
            StateWord::number(static_cast<std::int64_t>(*combine.identity))}});
      set.flops += static_cast<std::uint64_t>(interval.count * (plan_.depth_splits - 1));
    }
    builder_.add_compute(time, std::move(set));
  }

  BufferId convert(BufferId sums, const TensorType& type, Time time) {
    const BufferId converted = values_.add_temporary(type.dtype, builder_.buffer(sums).layout,
                                                     origin_.name, origin_.source);
    vertex::Expression expression;
    const vertex::Node node = expression.convert(expression.input(0, DType::kF32), type.dtype);
    ComputeSet set{.name = origin_.name + ".convert",
                   .operation = origin_.operation,
                   .source = origin_.source,
                   .codelet = builder_.add_codelet(
                       "convert f32 " + std::string(name_of(type.dtype)),
                       ElementwiseSpec{expression, {node}, {vertex::Access::kVector}}),
                   .launches = {},
                   .reads = {sums},
                   .writes = {converted}};
    for (const Interval& interval : builder_.buffer(sums).layout->intervals()) {
      set.launches.push_back({interval.tiles[0],
                              {StateWord::number(interval.count), StateWord::address(converted),
                               StateWord::address(sums)}});
    }
    builder_.add_compute(time, std::move(set));
    return converted;
  }

  ProgramBuilder& builder_;
  Values& values_;
  const Op& op_;
  Origin origin_;
  Side left_, right_;
  DotSizes sizes_;
  DType input_{}, result_{};
  std::vector<Axis> result_batch_, result_rows_, result_columns_;
  DotPlan plan_;
  std::uint32_t base_ = 0;
  MatmulKernel kernel_;
  Time gathered_;
};

}  // namespace

void lower_dot(ProgramBuilder& builder, Values& values, const Op& op,
               std::optional<ValueId> transposed, const std::vector<std::int64_t>& permutation) {
  ProductLowering(builder, values, op).lower(transposed.value_or(op.results[0]), permutation);
}

}  // namespace superstep
