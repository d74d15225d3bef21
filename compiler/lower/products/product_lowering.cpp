#include "compiler/lower/products/product_lowering.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "compiler/lower/products/product_blocks.h"
#include "compiler/ops/op.h"
#include "compiler/vertex/amp_product.h"

namespace superstep {
namespace {

using Dimensions = std::vector<std::int64_t>;

std::int64_t count(const Axes& axes) {
  std::int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

/// Axes of some dimensions of a permuted row-major tensor, with strides in its elements as sources.
Axes axes_of(const Shape& shape, const Dimensions& permutation, const Dimensions& dimensions) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  Axes axes;
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

/// What an operand of a shape is, when it is the operand's value with its dimensions permuted.
ProductSide side(const Values& values, const PermutedValue& operand, const Shape& shape,
                 const Dimensions& batch, const Dimensions& depth) {
  const Shape& own = values.type(operand.value).shape;
  return {operand.value, axes_of(own, operand.permutation, batch),
          axes_of(own, operand.permutation, others(shape, batch, depth)),
          axes_of(own, operand.permutation, depth)};
}

/// The least stride of some axes as sources.
std::int64_t nearest(const Axes& axes) {
  std::int64_t stride = std::numeric_limits<std::int64_t>::max();
  for (const Axis& axis : axes) {
    if (axis.size > 1) stride = std::min(stride, axis.from);
  }
  return stride;
}

std::optional<BlockedDimensions> operand_dimensions(const ProductSide& side) {
  return BlockedDimensions::of({side.batch, side.free, side.depth}, kFromSide);
}

}  // namespace

ProductLowering::ProductLowering(ProgramBuilder& builder, Values& values, const ProductOp& product)
    : builder_(builder), values_(values), product_op_(product) {
  const Op& op = *product.op;
  const auto of = [&](std::size_t number, const char* batch, const char* depth) {
    return side(values, product.operands[number], values.type(op.operands[number]).shape,
                dimensions(op, batch), dimensions(op, depth));
  };
  product_.left = of(0, "lhs_batching_dimensions", "lhs_contracting_dimensions");
  product_.right = of(1, "rhs_batching_dimensions", "rhs_contracting_dimensions");
  product_.origin = values.origin(op);
  product_.sizes = {count(product_.left.batch), count(product_.left.free),
                    count(product_.right.free), count(product_.left.depth)};
  product_.input = values.type(op.operands[0]).dtype;
  dtype_ = values.type(op.results[0]).dtype;
}

void ProductLowering::exchange_roles() {
  std::swap(product_.left, product_.right);
  std::swap(result_.rows, result_.columns);
  std::swap(product_.sizes.rows, product_.sizes.columns);
  has_columns_inside_ = !has_columns_inside_;
}

bool ProductLowering::prepare() {
  const ValueId target = product_op_.target.value;
  const TensorType& type = values_.type(target);
  if (type.elements() == 0) return false;
  const DType right = values_.type(product_op_.op->operands[1]).dtype;
  if (product_.input != right || product_.input == DType::kI1) {
    throw Unsupported(
        {{product_op_.op->location.module, "product of " + std::string(name_of(product_.input)) +
                                               " and " + std::string(name_of(right)) +
                                               "; expected two equal dtypes other than i1"}});
  }
  if (product_.sizes.depth == 0) {
    values_.set_constant(target, HostTensor(type));
    return false;
  }
  orient();
  return true;
}

void ProductLowering::orient() {
  result_ = ProductResult::of(product_op_.target, values_.type(product_op_.op->results[0]).shape,
                              product_);
  if (!result_.columns_are_inside()) exchange_roles();
  has_columns_inside_ = true;
}

ProductProblem ProductLowering::problem() const {
  ProductProblem problem{.sizes = product_.sizes,
                         .input = product_.input,
                         .result = dtype_,
                         .results_per_tile = result_.per_tile(builder_, values_),
                         .sums_of_runs_per_tile = result_.kept_per_tile(values_),
                         .result_columns_inside = has_columns_inside_};
  for (const bool is_left : {true, false}) {
    const ProductSide& side = is_left ? product_.left : product_.right;
    const bool is_open = values_.is_open(side.operand);
    (is_left ? problem.left_depth_inside : problem.right_depth_inside) =
        is_open ? nearest(side.depth) <= nearest(side.free) : has_depth_inside(values_, side);
    (is_left ? problem.left_in_blocks : problem.right_in_blocks) =
        is_open && has_whole_inputs() && operand_dimensions(side);
    (is_left ? problem.left_is_there : problem.right_is_there) = is_small_constant(side.operand);
  }
  problem.left_per_tile = operand_per_tile(product_.left.operand);
  problem.right_per_tile = operand_per_tile(product_.right.operand);
  problem.keeps_blocks = product_op_.may_keep_blocks && result_.dimensions();
  return problem;
}

ProductProblem ProductLowering::problem_after(const ProductProblem& before) const {
  return {.sizes = product_.sizes,
          .input = product_.input,
          .result = dtype_,
          .left_depth_inside = !before.left_depth_inside,
          .right_depth_inside = nearest(product_.right.depth) <= nearest(product_.right.free),
          .results_per_tile = result_.per_tile(builder_, values_),
          .sums_of_runs_per_tile = result_.kept_per_tile(values_),
          .result_columns_inside = has_columns_inside_,
          .left_per_tile = before.left_per_tile,
          .right_per_tile = operand_per_tile(product_.right.operand)};
}

bool ProductLowering::can_follow(const Product& product) const {
  return product_.left.operand == product.left.operand && product_.left.batch.empty() &&
         product.left.batch.empty() && product_.left.free == product.left.depth &&
         product_.left.depth == product.left.free && product_.input == product.input;
}

StoredValue ProductLowering::lower(const ProductProblem& problem, const ProductPlan& plan,
                                   std::uint32_t first_tile,
                                   const std::optional<StoredValue>& rows) {
  product_.plan = plan;
  product_.tiles = builder_.layouts().tiles();
  product_.rows_there = rows;
  product_.first_tile = first_tile;
  if (product_.plan.on_amp) {
    product_.column_group = vertex::AmpProduct{.operands = product_.input}.channels();
    product_.row_unit = product_.plan.row_unit();
    product_.left.is_there = problem.left_is_there;
    product_.right.is_there = problem.right_is_there;
    product_.pads_rows = problem.left_in_blocks || problem.left_is_there || problem.keeps_blocks;
    product_.pads_columns =
        problem.right_in_blocks || problem.right_is_there || problem.keeps_blocks;
    if (problem.left_in_blocks) store_in_blocks(product_.left, false);
    if (problem.right_in_blocks) store_in_blocks(product_.right, true);
    const Multiplied multiplied = multiply_on_amp(builder_, values_, product_);
    buffers_ = multiplied.buffers;
    if (problem.keeps_blocks) {
      result_.keep_blocks(builder_, values_, product_, multiplied);
    } else {
      result_.finish(builder_, values_, product_, multiplied, DType::kF32);
    }
    return {multiplied.rows, multiplied.time};
  }
  const bool widens = product_.plan.depth_splits > 1 && is_float(product_.input);
  const DType partial = widens ? DType::kF32 : dtype_;
  result_.finish(builder_, values_, product_, multiply_dense(builder_, values_, product_, partial),
                 partial);
  return {};
}

bool ProductLowering::has_whole_inputs() const {
  return is_float(product_.input) &&
         product_.sizes.depth % vertex::AmpProduct{.operands = product_.input}.depth() == 0;
}

void ProductLowering::store_in_blocks(ProductSide& side, bool weights) {
  const BufferId buffer = values_.place(
      side.operand, blocks_layout(builder_, product_, *operand_dimensions(side), weights));
  const bool in_place = product_.sharers(!weights) == 1;
  if (in_place) {
    builder_.mutable_buffer(buffer).region =
        weights ? Buffer::Region::kInterleaved : Buffer::Region::kFirst;
  }
  side.blocks = buffer;
}

bool ProductLowering::is_small_constant(ValueId operand) const {
  const auto bytes = static_cast<std::int64_t>(values_.type(operand).bytes());
  return values_.constant(operand) != nullptr && bytes <= most_bytes_that_stay(builder_.machine());
}

std::int64_t ProductLowering::operand_per_tile(ValueId operand) const {
  const LayoutPtr layout = values_.layout(operand);
  if (layout) return layout->intervals()[0].count;
  const std::int64_t tiles = builder_.machine().tiles();
  return (values_.elements(operand) + tiles - 1) / tiles;
}

}  // namespace superstep
