#include "compiler/lower/products/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/products/product_blocks.h"
#include "compiler/lower/reductions/reduce.h"
#include "compiler/ops/op.h"
#include "compiler/vertex/add_parts.h"
#include "compiler/vertex/amp_product.h"

namespace superstep {
namespace {

using Dimensions = std::vector<std::int64_t>;

std::int64_t count(const std::vector<Axis>& axes) {
  std::int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

/// Axes of some dimensions of a permuted row-major tensor, with strides in its elements as sources.
std::vector<Axis> axes_of(const Shape& shape, const Dimensions& permutation,
                          const Dimensions& dimensions) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  std::vector<Axis> axes;
  for (const std::int64_t d : dimensions) {
    const auto at = static_cast<std::size_t>(
        permutation.empty() ? d : permutation[static_cast<std::size_t>(d)]);
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

class ProductLowering {
 public:
  ProductLowering(ProgramBuilder& builder, Values& values, const ProductOp& product)
      : builder_(builder), values_(values), product_op_(product), op_(*product.op) {
    const Op& op = op_;
    const Shape& lhs = values.type(op.operands[0]).shape;
    const Shape& rhs = values.type(op.operands[1]).shape;
    const Dimensions& lb = dimensions(op, "lhs_batching_dimensions");
    const Dimensions& rb = dimensions(op, "rhs_batching_dimensions");
    const Dimensions& lc = dimensions(op, "lhs_contracting_dimensions");
    const Dimensions& rc = dimensions(op, "rhs_contracting_dimensions");
    product_.left = side(product.operands[0], lb, others(lhs, lb, lc), lc);
    product_.right = side(product.operands[1], rb, others(rhs, rb, rc), rc);
    product_.origin = values.origin(op);
    product_.sizes = {count(product_.left.batch), count(product_.left.free),
                      count(product_.right.free), count(product_.left.depth)};
    product_.input = values.type(op.operands[0]).dtype;
    result_ = values.type(op.results[0]).dtype;
  }

  [[nodiscard]] const Product& product() const { return product_; }
  [[nodiscard]] const std::vector<BufferId>& buffers() const { return buffers_; }

  /// Makes the rows the columns.
  void exchange_roles() {
    std::swap(product_.left, product_.right);
    std::swap(result_rows_, result_columns_);
    std::swap(product_.sizes.rows, product_.sizes.columns);
    has_columns_inside_ = !has_columns_inside_;
  }

  /// What is left of the product once the result's dimensions are permuted; nothing to multiply
  /// when that is a constant.
  [[nodiscard]] bool prepare() {
    const ValueId target = product_op_.target.value;
    const TensorType& type = values_.type(target);
    if (type.elements() == 0) return false;
    const DType right = values_.type(op_.operands[1]).dtype;
    if (product_.input != right || product_.input == DType::kI1) {
      throw Unsupported(
          {{op_.location.module, "product of " + std::string(name_of(product_.input)) + " and " +
                                     std::string(name_of(right)) +
                                     "; expected two equal dtypes other than i1"}});
    }
    if (product_.sizes.depth == 0) {
      values_.set_constant(target, HostTensor(type));
      return false;
    }
    orient();
    return true;
  }

  /// Decides what are rows, and where everything lies in the wanted result.
  void orient() {
    set_result_axes(product_op_.target.permutation);
    if (!columns_are_inside()) exchange_roles();
    has_columns_inside_ = true;
  }

  /// What the planner needs to know, when the operands are lowered.
  [[nodiscard]] ProductProblem problem() {
    ProductProblem problem{.sizes = product_.sizes,
                           .input = product_.input,
                           .result = result_,
                           .results_per_tile = results_per_tile(),
                           .result_columns_inside = has_columns_inside_};
    for (const bool is_left : {true, false}) {
      const ProductSide& side = is_left ? product_.left : product_.right;
      const bool is_open = values_.is_open(side.operand);
      (is_left ? problem.left_depth_inside : problem.right_depth_inside) =
          is_open ? nearest(side.depth) <= nearest(side.free) : has_depth_inside(values_, side);
      (is_left ? problem.left_in_blocks : problem.right_in_blocks) =
          is_open && has_whole_inputs() && operand_dimensions(side);
    }
    problem.left_per_tile = operand_per_tile(product_.left.operand);
    problem.right_per_tile = operand_per_tile(product_.right.operand);
    problem.keeps_blocks = product_op_.may_keep_blocks && result_dimensions();
    return problem;
  }

  /// The same of a product that follows `before`, whose right operand is not lowered yet.
  [[nodiscard]] ProductProblem problem_after(const ProductProblem& before) {
    return {.sizes = product_.sizes,
            .input = product_.input,
            .result = result_,
            .left_depth_inside = !before.left_depth_inside,
            .right_depth_inside = nearest(product_.right.depth) <= nearest(product_.right.free),
            .results_per_tile = results_per_tile(),
            .result_columns_inside = has_columns_inside_,
            .left_per_tile = before.left_per_tile,
            .right_per_tile = operand_per_tile(product_.right.operand)};
  }

  /// Whether `product` has the same left operand with rows and depth exchanged.
  [[nodiscard]] bool can_follow(const Product& product) const {
    return product_.left.operand == product.left.operand && product_.left.batch.empty() &&
           product.left.batch.empty() && product_.left.free == product.left.depth &&
           product_.left.depth == product.left.free && product_.input == product.input;
  }

  /// Lowers the product; its rows stay on their tiles.
  Place lower(const ProductProblem& problem, const ProductPlan& plan, std::uint32_t first_tile,
              const std::optional<Place>& rows) {
    product_.plan = plan;
    product_.tiles = builder_.layouts().tiles();
    product_.rows_there = rows;
    product_.first_tile = first_tile;
    if (product_.plan.on_amp) {
      product_.column_group = vertex::AmpProduct{.operands = product_.input}.channels();
      product_.row_unit = product_.plan.row_unit();
      product_.pads_rows = problem.left_in_blocks || problem.keeps_blocks;
      product_.pads_columns = problem.right_in_blocks || problem.keeps_blocks;
      if (problem.left_in_blocks) store_in_blocks(product_.left, false);
      if (problem.right_in_blocks) store_in_blocks(product_.right, true);
      const Multiplied multiplied = multiply_on_amp(builder_, values_, product_);
      buffers_ = multiplied.buffers;
      if (problem.keeps_blocks) {
        keep_blocks(multiplied);
      } else {
        finish(multiplied, DType::kF32);
      }
      return {multiplied.rows, multiplied.time};
    }
    const bool widens = product_.plan.depth_splits > 1 && is_float(product_.input);
    const DType partial = widens ? DType::kF32 : result_;
    finish(multiply_dense(builder_, values_, product_, partial), partial);
    return {};
  }

 private:
  [[nodiscard]] ProductSide side(const PermutedValue& operand, const Dimensions& batch,
                                 const Dimensions& free, const Dimensions& depth) const {
    const Shape& shape = values_.type(operand.value).shape;
    return {operand.value, axes_of(shape, operand.permutation, batch),
            axes_of(shape, operand.permutation, free), axes_of(shape, operand.permutation, depth)};
  }
  [[nodiscard]] const TensorType& type() const { return values_.type(product_op_.target.value); }

  /// The least stride of some axes as sources.
  [[nodiscard]] static std::int64_t nearest(const std::vector<Axis>& axes) {
    std::int64_t stride = std::numeric_limits<std::int64_t>::max();
    for (const Axis& axis : axes) {
      if (axis.size > 1) stride = std::min(stride, axis.from);
    }
    return stride;
  }

  /// Whether the depth is a multiple of what the AMP units take: nothing fills up stored blocks.
  [[nodiscard]] bool has_whole_inputs() const {
    return is_float(product_.input) &&
           product_.sizes.depth % vertex::AmpProduct{.operands = product_.input}.depth() == 0;
  }
  [[nodiscard]] static std::optional<BlockedDimensions> operand_dimensions(
      const ProductSide& side) {
    return BlockedDimensions::of({side.batch, side.free, side.depth}, kFromSide);
  }
  [[nodiscard]] std::optional<BlockedDimensions> result_dimensions() const {
    return BlockedDimensions::of({result_batch_, result_rows_, result_columns_}, kToSide);
  }

  /// Gives an argument that has no storage yet that of the blocks that are multiplied.
  void store_in_blocks(ProductSide& side, bool weights) {
    const BufferId buffer = values_.place(
        side.operand, blocks_layout(builder_, product_, *operand_dimensions(side), weights));
    const bool in_place = product_.sharers(!weights) == 1;
    if (in_place) {
      builder_.mutable_buffer(buffer).region =
          weights ? Buffer::Region::kInterleaved : Buffer::Region::kFirst;
    }
    side.blocks = buffer;
  }

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
    for (auto [axes, result] : {std::pair{&product_.left.batch, &result_batch_},
                                std::pair{&product_.left.free, &result_rows_},
                                std::pair{&product_.right.free, &result_columns_}}) {
      for (const Axis& axis : *axes) result->push_back({axis.size, 0, strides[d++]});
    }
  }

  /// Whether columns are nearer to each other in the result than rows.
  [[nodiscard]] bool columns_are_inside() const {
    const auto least = [](const std::vector<Axis>& axes) {
      std::int64_t stride = std::numeric_limits<std::int64_t>::max();
      for (const Axis& axis : axes) {
        if (axis.size > 1) stride = std::min(stride, axis.to);
      }
      return stride;
    };
    return least(result_columns_) <= least(result_rows_);
  }

  /// Elements of a small result are added row by row, on more tiles than it takes otherwise.
  [[nodiscard]] bool adds_rows(const TensorType& type) {
    if (type.shape.empty() || result_ != DType::kF32) return false;
    const std::int64_t row = type.shape.back();
    return row >= kLeastRow && row < kMostRow &&
           type.elements() / row <= std::min<std::int64_t>(kMostRows, builder_.layouts().tiles());
  }
  [[nodiscard]] std::int64_t results_per_tile() {
    return adds_rows(type()) ? type().shape.back() : assigned_layout()->intervals()[0].count;
  }
  [[nodiscard]] std::int64_t operand_per_tile(ValueId operand) const {
    const LayoutPtr layout = values_.layout(operand);
    if (layout) return layout->intervals()[0].count;
    const std::int64_t tiles = builder_.machine().tiles();
    return (values_.elements(operand) + tiles - 1) / tiles;
  }
  [[nodiscard]] LayoutPtr assigned_layout() const {
    return values_.assigned().of(product_op_.target.value);
  }
  [[nodiscard]] LayoutPtr sums_layout() {
    const LayoutPtr assigned = assigned_layout();
    if (!adds_rows(type()) || assigned->intervals()[0].count == type().shape.back())
      return assigned;
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
        cut(parts, result_batch_, block.batch, product_.result_area(block));
        cut(parts, result_rows_, block.rows, group);
        cut(parts, result_columns_, columns, 1);
        for (Box& box : parts) {
          boxes[static_cast<std::size_t>(block.depth_part)].push_back(simplified(std::move(box)));
        }
      }
    }
    return boxes;
  }

  /// Nests a range of the result's axes into `parts`; neighbours lie `unit` apart in the products.
  static void cut(std::vector<Box>& parts, std::vector<Axis> axes, IndexRange range,
                  std::int64_t unit) {
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
      if (boxes[i].elements() != all.size || (all.size > 1 && boxes[i].axes != std::vector{all})) {
        return nullptr;
      }
      intervals[i].begin = boxes[i].to;
    }
    std::ranges::sort(intervals, {}, &Interval::begin);
    return builder_.layouts().with(std::move(intervals));
  }

  /// Leaves the result in the order of the blocks, each block on the tiles that made parts of it.
  void keep_blocks(const Multiplied& multiplied) {
    const std::int64_t splits = product_.plan.depth_splits;
    const LayoutPtr layout = result_blocks_layout(builder_, product_, *result_dimensions());
    std::vector<std::vector<Box>> boxes(static_cast<std::size_t>(splits));
    const std::vector<Interval>& made = builder_.buffer(multiplied.products).layout->intervals();
    const std::size_t blocks = made.size() / boxes.size();
    const std::int64_t area = product_.plan.batches * product_.plan.rows * product_.plan.columns;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::int64_t to = static_cast<std::int64_t>(i % blocks) * area;
      boxes[i / blocks].push_back({made[i].begin, to, {{made[i].count, 1, 1}}});
    }
    const ValueId target = product_op_.target.value;
    BufferId sums = multiplied.products;
    Time time = multiplied.time;
    if (splits == 1) {
      builder_.mutable_buffer(sums).layout = layout;
      builder_.mutable_buffer(sums).type = type();
    } else {
      sums =
          values_.add_temporary(DType::kF32, layout, product_.origin.name, product_.origin.source);
      time = sum_parts(boxes, multiplied, sums, DType::kF32);
    }
    if (result_ != DType::kF32) sums = convert(sums, type(), time = time.next_round());
    values_.set_stored(target, sums, time);
  }

  void finish(const Multiplied& multiplied, DType partial) {
    const ValueId target = product_op_.target.value;
    const TensorType& type = this->type();
    const BufferId products = multiplied.products;
    const auto boxes = results_by_depth(*builder_.buffer(products).layout);
    if (product_.plan.depth_splits == 1) {
      const LayoutPtr layout = partial == result_ ? result_layout(boxes[0], products) : nullptr;
      if (layout) {
        builder_.mutable_buffer(products).layout = layout;
        builder_.mutable_buffer(products).type = type;
        values_.set_stored(target, products, multiplied.time);
        return;
      }
      std::vector<Piece> pieces;
      for (const Box& box : boxes[0]) pieces.push_back({products, box});
      if (partial == result_) {
        values_.set_view(target, std::move(pieces), multiplied.time);
        return;
      }
      const BufferId whole = values_.add_temporary(partial, values_.assigned().of(target),
                                                   product_.origin.name, product_.origin.source);
      const Time time = move(builder_, whole, pieces, multiplied.time, product_.origin);
      values_.set_stored(target, convert(whole, type, time.next_round()), time.next_round());
      return;
    }
    const BufferId sums =
        values_.add_temporary(partial, sums_layout(), product_.origin.name, product_.origin.source);
    const Time time = sum_parts(boxes, multiplied, sums, partial);
    if (partial == result_) {
      values_.set_stored(target, sums, time);
    } else {
      values_.set_stored(target, convert(sums, type, time), time);
    }
  }

  /// Adds the products of all parts of the depth: `boxes` copy them to elements of `sums`. These
  /// lie [parts of the depth][elements] on the tiles of the sums, then are added in ascending order
  /// of parts.
  Time sum_parts(const std::vector<std::vector<Box>>& boxes, const Multiplied& multiplied,
                 BufferId sums, DType partial) {
    const BufferId products = multiplied.products;
    const std::int64_t splits = product_.plan.depth_splits;
    const LayoutPtr layout = builder_.buffer(sums).layout;
    const std::int64_t unit = partial == DType::kF32 ? vertex::kAddPartsGroup : 1;
    const auto pitch = [&](const Interval& interval) {
      return (interval.count + unit - 1) / unit * unit;
    };
    std::vector<Interval> intervals;
    std::int64_t begin = 0;
    for (const Interval& interval : layout->intervals()) {
      intervals.push_back({begin, pitch(interval) * splits, interval.tiles});
      begin = intervals.back().end();
    }
    const BufferId received =
        values_.add_temporary(partial, std::make_shared<const Layout>(intervals),
                              product_.origin.name + ".parts", product_.origin.source);
    std::vector<Piece> pieces;
    for (std::size_t ik = 0; ik < boxes.size(); ++ik) {
      for (const Box& whole : boxes[ik]) {
        partition(
            whole, kToSide, [&](std::int64_t e) { return layout->interval_at(e); },
            [&](std::size_t number, const Box& box) {
              const Interval& interval = layout->intervals()[number];
              Box moved = box;
              moved.to = intervals[number].begin + static_cast<std::int64_t>(ik) * pitch(interval) +
                         (box.to - interval.begin);
              pieces.push_back({products, simplified(std::move(moved))});
            });
      }
    }
    const Time time = move(builder_, received, pieces, multiplied.time, product_.origin);
    if (partial == DType::kF32) {
      builder_.mutable_buffer(received).region = Buffer::Region::kInterleaved;
      add_parts(received, sums, time);
    } else {
      add_up(received, sums, partial, time);
    }
    return time;
  }

  void add_parts(BufferId received, BufferId sums, Time time) {
    const std::int64_t parts = product_.plan.depth_splits;
    ComputeSet set{.name = product_.origin.name + ".sum",
                   .operation = product_.origin.operation,
                   .source = product_.origin.source,
                   .codelet = builder_.add_codelet("add parts " + std::to_string(parts),
                                                   vertex::AddParts{parts}),
                   .launches = {},
                   .reads = {received},
                   .writes = {sums}};
    const std::int64_t workers = builder_.machine().tile.workers;
    for (const Interval& interval : builder_.buffer(sums).layout->intervals()) {
      const vertex::AddParts::State state{
          .sums = (interval.count + 1) / 2 * 2, .from = received, .to = sums};
      set.launches.push_back({.tile = interval.tiles[0],
                              .state = state.words(parts, workers),
                              .worker_words = vertex::kAddPartsStateWords});
      set.flops += static_cast<std::uint64_t>(interval.count * (parts - 1));
    }
    builder_.add_compute(time, std::move(set));
  }

  void add_up(BufferId received, BufferId sums, DType dtype, Time time) {
    const Combine combine = combine_with(vertex::Primitive::kAdd, dtype);
    ComputeSet set{.name = product_.origin.name + ".sum",
                   .operation = product_.origin.operation,
                   .source = product_.origin.source,
                   .codelet = builder_.add_codelet(combine.key, combine.reduce),
                   .launches = {},
                   .reads = {received},
                   .writes = {sums}};
    for (const Interval& interval : builder_.buffer(sums).layout->intervals()) {
      const vertex::Reduce::State state{
          .outer = 1,
          .reduced = product_.plan.depth_splits,
          .inner = interval.count,
          .values = {{.constant = static_cast<std::uint32_t>(*combine.identity),
                      .initial = {},
                      .output = StateWord::address(sums),
                      .input = StateWord::address(received)}}};
      set.launches.push_back({interval.tiles[0], state.words()});
      set.flops += static_cast<std::uint64_t>(interval.count * (product_.plan.depth_splits - 1));
    }
    builder_.add_compute(time, std::move(set));
  }

  BufferId convert(BufferId sums, const TensorType& type, Time time) {
    const BufferId converted = values_.add_temporary(type.dtype, builder_.buffer(sums).layout,
                                                     product_.origin.name, product_.origin.source);
    builder_.mutable_buffer(sums).read_past = vertex::kReadPast;
    vertex::Expression expression;
    const vertex::Node node = expression.convert(expression.input(0, DType::kF32), type.dtype);
    ComputeSet set{.name = product_.origin.name + ".convert",
                   .operation = product_.origin.operation,
                   .source = product_.origin.source,
                   .codelet = builder_.add_codelet(
                       "convert f32 " + std::string(name_of(type.dtype)),
                       vertex::Elementwise{expression, {node}, {vertex::Access::kVector}}),
                   .launches = {},
                   .reads = {sums},
                   .writes = {converted}};
    for (const Interval& interval : builder_.buffer(sums).layout->intervals()) {
      set.launches.push_back(
          {interval.tiles[0], vertex::unary_state(interval.count, StateWord::address(converted),
                                                  StateWord::address(sums))});
    }
    builder_.add_compute(time, std::move(set));
    return converted;
  }

  static constexpr std::int64_t kLeastRow = 8, kMostRow = 32, kMostRows = 256;

  ProgramBuilder& builder_;
  Values& values_;
  const ProductOp& product_op_;
  const Op& op_;
  Product product_;
  std::vector<BufferId> buffers_;
  DType result_{};
  bool has_columns_inside_ = true;
  std::vector<Axis> result_batch_, result_rows_, result_columns_;
};

}  // namespace

std::optional<ProductProblem> Products::follower_of(std::size_t number,
                                                    const ProductProblem& problem,
                                                    const Product& product) const {
  for (std::size_t next = number + 1; next < all_.size(); ++next) {
    const ProductOp& op = all_[next];
    const auto is_operand = [&](const PermutedValue& operand) {
      return operand.value == product.left.operand;
    };
    if (std::ranges::none_of(op.operands, is_operand)) continue;
    ProductLowering later(builder_, values_, op);
    later.orient();
    if (later.can_follow(product)) return later.problem_after(problem);
  }
  return std::nullopt;
}

void lower_product(BlockLowering& block, const Op& op) {
  block.products->lower(block.product_numbers.at(&op));
}

void Products::note(std::size_t number, const ProductProblem& problem, const Product& product,
                    std::vector<BufferId> buffers) {
  using enum CompileEvent::Kind;
  const ProductPlan& plan = product.plan;
  builder_.add_product({plan.on_amp, plan.cycles, plan.on_amp ? region0_bytes(problem, plan) : 0,
                        std::move(buffers)});
  const MachineConfig& machine = builder_.machine();
  if (!is_float(problem.input) || machine.tile.amp_units == 0) return;
  const auto squeezed = squeezed_.find(number);
  if (plan.on_amp) {
    if (squeezed == squeezed_.end()) return;
    builder_.add_event(
        kDroppedPlan, product.origin,
        fmt::format("has its operands in {} steps of {:.1f} KiB, since {}", product.steps(),
                    static_cast<double>(region0_bytes(problem, plan)) / 1024,
                    squeezed->second.reason),
        "a machine with more tiles, or fewer tensors alive beside it, would help");
    return;
  }
  const std::string off = "is not on the AMP units: ";
  if (std::string reason; !has_amp_codelet(machine, problem.input, &reason)) {
    builder_.add_event(kNoAmp, product.origin, off + reason);
  } else if (squeezed != squeezed_.end()) {
    builder_.add_event(kNoAmp, product.origin, off + squeezed->second.reason,
                       "a machine with more tiles, or fewer tensors alive beside it, would help");
  } else if (plan.cycles_on_amp) {
    builder_.add_event(kSmallProduct, product.origin,
                       fmt::format("{}so small a product takes an estimated {} cycles there, {} "
                                   "without them",
                                   off, *plan.cycles_on_amp, plan.cycles));
  } else {
    builder_.add_event(
        kNoAmp, product.origin,
        fmt::format("{}no blocks of its operands fit the {} KiB of executable memory of a tile",
                    off, (machine.tile.region1_base - machine.tile.memory_base) / 1024),
        "a higher tile.region1_base, a machine with more tiles or smaller operands would help");
  }
}

std::uint32_t Products::first_tile(const Op& op, const ProductPlan& plan) {
  Time ready;
  std::vector<std::int64_t> key{plan.batch_splits, plan.row_splits, plan.column_splits,
                                plan.depth_splits};
  for (const ValueId operand : op.operands) {
    ready = std::max(ready, values_.time(operand));
    const Shape& shape = values_.type(operand).shape;
    key.insert(key.end(), shape.begin(), shape.end());
  }
  std::vector<Start>& starts = starts_[key];
  for (Start& start : starts) {
    if (start.ready.superstep >= ready.superstep) continue;
    start.ready = ready;
    return start.tile;
  }
  const auto tiles = static_cast<std::uint32_t>(plan.tiles());
  starts.push_back({builder_.layouts().take_tiles(tiles), ready});
  return starts.back().tile;
}

void Products::lower(std::size_t number) {
  ProductLowering product(builder_, values_, all_[number]);
  if (!product.prepare()) {
    builder_.add_product({});
    return;
  }
  const auto problem_now = [&] {
    ProductProblem problem = product.problem();
    if (const auto at = squeezed_.find(number); at != squeezed_.end()) {
      problem.most_region0_bytes = at->second.region0_bytes;
    }
    return problem;
  };
  ProductProblem problem = problem_now();
  const std::optional<ProductProblem> later =
      bytes_that_stay_ < most_rows_that_stay_of_all(builder_.machine())
          ? follower_of(number, problem, product.product())
          : std::nullopt;
  ProductPlan plan = plan_product(builder_.machine(), problem, later ? &*later : nullptr);
  const RowsThere* before = nullptr;
  for (const RowsThere& there : rows_there_) {
    if (!product.can_follow(*there.product)) continue;
    const auto next =
        plan_following(builder_.machine(), problem, there.problem, there.product->plan);
    if (!next || next->cycles >= plan.cycles) continue;
    plan = *next;
    before = &there;
  }
  if (before != nullptr) {
    // Rows that are there have no padding.
    problem.keeps_blocks = false;
    (void)product.lower(problem, plan, before->product->first_tile, before->rows);
    note(number, problem, product.product(), product.buffers());
    return;
  }
  if (!later) {
    // Where rows are neighbours in the result, each result travels alone.
    product.exchange_roles();
    const ProductProblem exchanged = problem_now();
    const ProductPlan other = plan_product(builder_.machine(), exchanged);
    if (std::pair(other.excess, other.cycles) < std::pair(plan.excess, plan.cycles)) {
      problem = exchanged;
      plan = other;
    } else {
      product.exchange_roles();
    }
  }
  const Place rows = product.lower(problem, plan, first_tile(*all_[number].op, plan), std::nullopt);
  note(number, problem, product.product(), product.buffers());
  if (later && plan_following(builder_.machine(), *later, problem, plan)) {
    bytes_that_stay_ += plan.rows * plan.depth * static_cast<std::int64_t>(size_of(problem.input));
    rows_there_.push_back({std::make_shared<const Product>(product.product()), problem, rows});
  }
}

}  // namespace superstep
