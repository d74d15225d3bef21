#include <algorithm>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// A product whose one dimension, of the left operand, is cut into groups of rows: each has a
/// matrix of its own on the right, or becomes a result of its own where it contracts.
struct RaggedProduct {
  enum class Mode : std::uint8_t { kFree, kContracting, kBatching } mode = Mode::kFree;
  Indices left_batching, right_batching, left_contracting, right_contracting;
  std::int64_t ragged = 0, group = 0;  ///< the latter of the right operand, where it has groups
  std::int64_t groups = 0;

  RaggedProduct(const Op& op, std::span<const TensorType> operands) {
    const TensorType &left = operands[0], &right = operands[1], &sizes = operands[2];
    left_batching = dimension_list(op, "lhs_batching_dimensions", left.shape.size());
    right_batching = dimension_list(op, "rhs_batching_dimensions", right.shape.size());
    left_contracting = dimension_list(op, "lhs_contracting_dimensions", left.shape.size());
    right_contracting = dimension_list(op, "rhs_contracting_dimensions", right.shape.size());
    const Indices ragged_ones = dimension_list(op, "lhs_ragged_dimensions", left.shape.size());
    const Indices group_ones = dimension_list(op, "rhs_group_dimensions", right.shape.size());
    if (ragged_ones.size() != 1) malformed(op, "lhs_ragged_dimensions is not one dimension");
    ragged = ragged_ones[0];
    if (contains(left_contracting, ragged)) mode = Mode::kContracting;
    if (contains(left_batching, ragged)) mode = Mode::kBatching;
    if (group_ones.size() != (mode == Mode::kFree ? 1U : 0U)) {
      malformed(op, fmt::format("rhs_group_dimensions has {} entries", group_ones.size()));
    }
    if (sizes.shape.size() != 1) {
      unsupported(op, fmt::format("with sizes of groups of {}; give a vector", sizes.text()));
    }
    groups = sizes.shape[0];
    if (mode != Mode::kFree) return;
    group = group_ones[0];
    if (contains(right_batching, group) || contains(right_contracting, group) ||
        right.shape[static_cast<std::size_t>(group)] != groups) {
      malformed(op, fmt::format("dimension {} of {} is not that of {} groups", group, right.text(),
                                groups));
    }
  }

  [[nodiscard]] ProductDimensions dimensions() const {
    return {left_batching, right_batching, left_contracting, right_contracting};
  }

  /// Of the product with all groups, which are a free dimension on the right: that of the rows, and
  /// that of the groups.
  [[nodiscard]] std::int64_t place_of_rows() const {
    return static_cast<std::int64_t>(left_batching.size()) +
           free_before(ragged, left_batching, left_contracting);
  }
  [[nodiscard]] std::int64_t place_of_groups(std::size_t left_rank) const {
    return static_cast<std::int64_t>(left_rank - left_contracting.size()) +
           free_before(group, right_batching, right_contracting);
  }
  /// The dimension of the right operand that contracts with the ragged one.
  [[nodiscard]] std::int64_t right_ragged() const {
    const auto at = std::ranges::find(left_contracting, ragged) - left_contracting.begin();
    return right_contracting[static_cast<std::size_t>(at)];
  }

 private:
  static std::int64_t free_before(std::int64_t end, const Indices& batching,
                                  const Indices& contracting) {
    std::int64_t free = 0;
    for (std::int64_t d = 0; d < end; ++d) {
      free += contains(batching, d) || contains(contracting, d) ? 0 : 1;
    }
    return free;
  }
};

/// The product of what may be parts of the operands.
Op product_op(const RaggedProduct& product, const Op& op, DType dtype) {
  Op plain;
  plain.definition = &kDotGeneralOp;
  plain.location = op.location;
  plain.attributes = {{"lhs_batching_dimensions", product.left_batching},
                      {"rhs_batching_dimensions", product.right_batching},
                      {"lhs_contracting_dimensions", product.left_contracting},
                      {"rhs_contracting_dimensions", product.right_contracting}};
  plain.declared = {{dtype, {}}};  // of which the dtype counts
  return plain;
}
DType dtype_of(const Op& op, DType left) {
  return op.declared.empty() ? left : op.declared[0].dtype;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const RaggedProduct product(op, operands);
  const Op plain = product_op(product, op, dtype_of(op, operands[0].dtype));
  TensorType type = kDotGeneralOp.infer(plain, operands.first(2))[0];
  if (product.mode == RaggedProduct::Mode::kFree) {
    type.shape.erase(type.shape.begin() + product.place_of_groups(operands[0].shape.size()));
  } else if (product.mode == RaggedProduct::Mode::kContracting) {
    type.shape.insert(type.shape.begin(), product.groups);
  }
  return {type};
}

/// Some places of one dimension.
HostTensor part_of(const HostTensor& x, std::int64_t dimension, std::int64_t begin,
                   std::int64_t end) {
  const auto d = static_cast<std::size_t>(dimension);
  Indices start(x.type.shape.size()), limit = x.type.shape;
  start[d] = begin;
  limit[d] = end;
  Op slice;
  slice.attributes = {
      {"start_indices", start}, {"limit_indices", limit}, {"strides", Indices(start.size(), 1)}};
  return kSliceOp.evaluate(slice, std::span(&x, 1))[0];
}

/// A product of each group: of its rows with its matrix, or of its rows and columns.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  std::vector<TensorType> types;
  for (const HostTensor& operand : operands) types.push_back(operand.type);
  const RaggedProduct product(op, types);
  HostTensor result(infer(op, types)[0]);
  const Op plain = product_op(product, op, result.type.dtype);
  const auto times = [&](HostTensor left, HostTensor right) {
    const std::vector<HostTensor> both = {std::move(left), std::move(right)};
    return kDotGeneralOp.evaluate(plain, both)[0];
  };
  const HostTensor &left = operands[0], &right = operands[1];
  if (product.mode == RaggedProduct::Mode::kBatching) return {times(left, right)};
  const std::int64_t rows = left.type.shape[static_cast<std::size_t>(product.ragged)];
  const bool is_free = product.mode == RaggedProduct::Mode::kFree;
  std::int64_t begin = 0;
  for (std::int64_t g = 0; g < product.groups; ++g) {
    const std::int64_t size =
        std::max<std::int64_t>(read_int(operands[2], static_cast<std::size_t>(g)), 0);
    const std::int64_t end = std::min(begin + size, rows);
    const HostTensor part = times(part_of(left, product.ragged, begin, end),
                                  is_free ? part_of(right, product.group, g, g + 1)
                                          : part_of(right, product.right_ragged(), begin, end));
    const std::int64_t at = is_free ? product.place_of_rows() : 0;
    Shape window = part.type.shape;
    if (is_free) {
      window.erase(window.begin() + product.place_of_groups(left.type.shape.size()));
    } else {
      window.insert(window.begin(), 1);
    }
    Indices start(window.size());
    start[static_cast<std::size_t>(at)] = is_free ? begin : g;
    for_each_of_window(result.type.shape, window, start, [&](std::size_t to, std::size_t from) {
      copy_element(result, to, part, from);
    });
    begin = end;
  }
  return {std::move(result)};
}

/// Whether a row is in a group, for groups and rows.
Tensor membership(Tensor sizes, std::int64_t groups, std::int64_t rows) {
  GraphBuilder& builder = *sizes.builder;
  const Tensor counts =
      maximum(convert(sizes, DType::kI32), builder.iota({DType::kI32, {groups}}, 0).like(0));
  const TensorType pairs{DType::kI32, {groups, groups}}, all{DType::kI32, {groups, rows}};
  const Tensor is_up_to = compare("LE", builder.iota(pairs, 0), builder.iota(pairs, 1));
  const Tensor spread = broadcast(counts, pairs.shape, {0});
  const Tensor ends = sum(select(is_up_to, spread, spread.like(0)), {0});
  const Tensor end = broadcast(ends, all.shape, {0});
  const Tensor begin = broadcast(ends - counts, all.shape, {0});
  const Tensor row = builder.iota(all, 1);
  return compare("GE", row, begin) & compare("LT", row, end);
}

/// A tensor for each group, in which only its rows are not 0.
Tensor by_group(Tensor x, Tensor is_member, std::int64_t dimension) {
  Shape shape = x.shape();
  shape.insert(shape.begin(), is_member.shape()[0]);
  Indices own = all_dimensions(x.shape().size());
  for (std::int64_t& d : own) ++d;
  const Tensor copies = broadcast(x, shape, own);
  return select(broadcast(is_member, shape, {0, dimension + 1}), copies, copies.like(0));
}

/// Groups are a dimension of a product of all rows, of which each takes its own.
std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type(), operands[1].type(),
                                         operands[2].type()};
  const RaggedProduct product(op, types);
  const Tensor left = operands[0], right = operands[1];
  const DType dtype = dtype_of(op, left.dtype());
  ProductDimensions dimensions = product.dimensions();
  if (product.mode == RaggedProduct::Mode::kBatching) {
    return {dot_general(left, right, dimensions, dtype)};
  }
  const std::int64_t rows = left.shape()[static_cast<std::size_t>(product.ragged)];
  const Tensor is_member = membership(operands[2], product.groups, rows);
  if (product.mode == RaggedProduct::Mode::kFree) {
    const Tensor all = dot_general(left, right, dimensions, dtype);
    const std::int64_t groups = product.place_of_groups(left.shape().size());
    const Tensor own = broadcast(is_member, all.shape(), {groups, product.place_of_rows()});
    return {sum(select(own, all, all.like(0)), {groups})};
  }
  for (Indices* side : {&dimensions.left_batching, &dimensions.right_batching,
                        &dimensions.left_contracting, &dimensions.right_contracting}) {
    for (std::int64_t& d : *side) ++d;
  }
  dimensions.left_batching.insert(dimensions.left_batching.begin(), 0);
  dimensions.right_batching.insert(dimensions.right_batching.begin(), 0);
  return {dot_general(by_group(left, is_member, product.ragged),
                      by_group(right, is_member, product.right_ragged()), dimensions, dtype)};
}

}  // namespace

const OpDefinition kRaggedDotOp{
    .name = "chlo.ragged_dot",
    .summary = "A product in which groups of rows have matrices or results of their own.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType, kAnyDType, kIntegers}, .is_shorthand = true},
    .attributes =
        "ragged_dot_dimension_numbers lhs_batching_dimensions rhs_batching_dimensions "
        "lhs_contracting_dimensions rhs_contracting_dimensions lhs_ragged_dimensions "
        "rhs_group_dimensions precision_config",
};

}  // namespace superstep
