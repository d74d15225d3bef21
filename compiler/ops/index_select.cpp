#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// The dimension that indices are of, and how many leading ones operand and indices share.
struct Selection {
  std::size_t dimension, batch;

  Selection(const Op& op, const Shape& operand, const Shape& indices) {
    dimension = superstep::dimension(op, "dim", operand.size());
    const auto shared = attribute<std::int64_t>(op, "batch_dims");
    if (shared < 0 || shared > static_cast<std::int64_t>(dimension) ||
        shared > static_cast<std::int64_t>(indices.size())) {
      malformed(op, fmt::format("batch_dims is {}", shared));
    }
    batch = static_cast<std::size_t>(shared);
    if (!std::equal(operand.begin(), operand.begin() + shared, indices.begin())) {
      malformed(op, "operand and indices differ in dimensions that they share");
    }
  }

  [[nodiscard]] Shape shape(const Shape& operand, const Shape& indices) const {
    const auto at = static_cast<std::ptrdiff_t>(dimension);
    Shape shape(operand.begin(), operand.begin() + at);
    shape.insert(shape.end(), indices.begin() + static_cast<std::ptrdiff_t>(batch), indices.end());
    shape.insert(shape.end(), operand.begin() + at + 1, operand.end());
    return shape;
  }
};

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const Shape &x = operands[0].shape, &indices = operands[1].shape;
  return {{operands[0].dtype, Selection(op, x, indices).shape(x, indices)}};
}

/// Indices are held inside of the operand.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor &x = operands[0], &indices = operands[1];
  const Selection selection(op, x.type.shape, indices.type.shape);
  HostTensor result(TensorType{x.type.dtype, selection.shape(x.type.shape, indices.type.shape)});
  if (result.type.elements() == 0) return {std::move(result)};
  const Indices from = row_major_strides(x.type.shape);
  const Indices to = row_major_strides(result.type.shape);
  const Indices of_index = row_major_strides(indices.type.shape);
  const auto at = static_cast<std::ptrdiff_t>(selection.dimension);
  const auto behind = at + static_cast<std::ptrdiff_t>(indices.type.shape.size()) -
                      static_cast<std::ptrdiff_t>(selection.batch);
  Indices index(to.size());
  do {
    Indices where(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(selection.batch));
    where.insert(where.end(), index.begin() + at, index.begin() + behind);
    const std::int64_t found = read_int(indices, element_at(where, of_index));
    Indices source(index.begin(), index.begin() + at);
    source.push_back(std::clamp<std::int64_t>(found, 0, x.type.shape[selection.dimension] - 1));
    source.insert(source.end(), index.begin() + behind, index.end());
    copy_element(result, element_at(index, to), x, element_at(source, from));
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Shape x = operands[0].shape(), indices = operands[1].shape();
  const Selection selection(op, x, indices);
  const auto dimension = static_cast<std::int64_t>(selection.dimension);
  const auto rank = static_cast<std::int64_t>(indices.size());
  const Indices batch = all_dimensions(selection.batch);
  const auto shared = static_cast<std::int64_t>(selection.batch);
  Indices offset;
  for (std::int64_t d = shared; d < static_cast<std::int64_t>(x.size()); ++d) {
    if (d != dimension) offset.push_back(d < dimension ? d : d - 1 + rank - shared);
  }
  Shape sizes = x;
  for (const std::int64_t d : batch) sizes[static_cast<std::size_t>(d)] = 1;
  sizes[selection.dimension] = 1;
  Op gather;
  gather.attributes = {{"offset_dims", offset},
                       {"collapsed_slice_dims", Indices{dimension}},
                       {"operand_batching_dims", batch},
                       {"start_indices_batching_dims", batch},
                       {"start_index_map", Indices{dimension}},
                       {"index_vector_dim", rank},
                       {"slice_sizes", sizes}};
  return builder.append(kGatherOp, operands, std::move(gather));
}

}  // namespace

const OpDefinition kTorchIndexSelectOp{
    .name = "stablehlo.torch_index_select",
    .summary = "The parts of a dimension of a tensor that indices name.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType, kIntegers}, .is_shorthand = true},
    .attributes = "dim batch_dims",
};

}  // namespace superstep
