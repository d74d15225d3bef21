// Ops that take at run time what others have as attributes. Where their result is of a static type
// and what they take is constant they are those others.

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// What one of these ops is made of.
struct Dynamic {
  const OpDefinition& fixed;            ///< the op with attributes
  std::size_t tensors;                  ///< operands that it has as well
  std::span<const char* const> values;  ///< attributes that the other operands are, in order
};

constexpr std::array kShape = {"shape"};  // said by the result's type as well
constexpr std::array kSizes = {"slice_sizes"};
constexpr std::array kPadding = {"padding"};
constexpr std::array kEdges = {"edge_padding_low", "edge_padding_high", "interior_padding"};
constexpr std::array kRanges = {"start_indices", "limit_indices", "strides"};

const Dynamic kBroadcast{kBroadcastInDimOp, 1, kShape}, kConvolution{kConvolutionOp, 2, kPadding},
    kGather{kGatherOp, 2, kSizes}, kIota{kIotaOp, 0, kShape}, kPad{kPadOp, 2, kEdges},
    kReshape{kReshapeOp, 1, kShape}, kSlice{kSliceOp, 1, kRanges};

bool is_shape(const Dynamic& dynamic) { return dynamic.values.data() == kShape.data(); }

template <const Dynamic& dynamic>
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& result = required_result(op);
  if (dynamic.tensors > 0 && &dynamic.fixed != &kConvolutionOp &&
      result.dtype != operands[0].dtype) {
    malformed(op, fmt::format("gives {} of {}", result.text(), operands[0].text()));
  }
  const std::size_t rank = is_shape(dynamic) ? result.shape.size() : operands[0].shape.size();
  const bool has_pairs = &dynamic.fixed == &kConvolutionOp;
  for (std::size_t i = dynamic.tensors; i < operands.size(); ++i) {
    const auto n = static_cast<std::int64_t>(rank);
    const Shape expected = has_pairs ? Shape{n - 2, 2} : Shape{n};
    if (operands[i].shape == expected) continue;
    malformed(op, fmt::format("operand {} is {}, expected {}", i, operands[i].text(),
                              TensorType{operands[i].dtype, expected}.text()));
  }
  return {result};
}

/// The op with attributes.
Op fixed_op(const Dynamic& dynamic, const Op& op, std::span<const HostTensor> values) {
  Op fixed;
  fixed.definition = &dynamic.fixed;
  fixed.attributes = op.attributes;
  fixed.location = op.location;
  fixed.declared = op.declared;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Indices numbers;
    for (std::size_t n = 0; n < static_cast<std::size_t>(values[i].type.elements()); ++n) {
      numbers.push_back(read_int(values[i], n));
    }
    if (!is_shape(dynamic)) {
      fixed.attributes.insert_or_assign(dynamic.values[i], std::move(numbers));
    } else if (numbers != op.declared[0].shape) {
      malformed(op, fmt::format("asks for the shape [{}] as {}", fmt::join(numbers, ", "),
                                op.declared[0].text()));
    }
  }
  return fixed;
}

template <const Dynamic& dynamic>
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const Op fixed = fixed_op(dynamic, op, operands.subspan(dynamic.tensors));
  const std::span<const HostTensor> tensors = operands.first(dynamic.tensors);
  std::vector<TensorType> types;
  for (const HostTensor& tensor : tensors) types.push_back(tensor.type);
  static_cast<void>(infer_types(fixed, types));
  return dynamic.fixed.evaluate(fixed, tensors);
}

template <const Dynamic& dynamic>
std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  std::vector<HostTensor> values;
  for (const Tensor& operand : operands.subspan(dynamic.tensors)) {
    auto value = constant_value(builder.graph(), operand.id);
    if (!value && is_shape(dynamic)) break;
    if (!value) {
      unsupported(op, fmt::format("operand {} is known at run time only; give a constant",
                                  dynamic.tensors + values.size()));
    }
    values.push_back(*std::move(value));
  }
  Op fixed = fixed_op(dynamic, op, values);
  return builder.append(dynamic.fixed, operands.first(dynamic.tensors), std::move(fixed));
}

std::vector<TensorType> infer_size(const Op& op, std::span<const TensorType> operands) {
  static_cast<void>(dimension(op, "dimension", operands[0].shape.size()));
  if (!operands[1].shape.empty()) malformed(op, "the size is no scalar");
  return {operands[0]};
}

/// A dimension of static size is said to have that.
void check_size(const Op& op, const TensorType& operand, const HostTensor& size) {
  const std::size_t d = dimension(op, "dimension", operand.shape.size());
  if (const std::int64_t n = read_int(size, 0); n != operand.shape[d]) {
    unsupported(op, fmt::format("makes {} elements of the {} of dimension {}: sizes of run time", n,
                                operand.shape[d], d));
  }
}

std::vector<HostTensor> evaluate_size(const Op& op, std::span<const HostTensor> operands) {
  check_size(op, operands[0].type, operands[1]);
  return {operands[0]};
}

std::vector<Tensor> expand_size(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands) {
  const auto size = constant_value(builder.graph(), operands[1].id);
  if (!size) unsupported(op, "the size is known at run time only; give a constant");
  check_size(op, operands[0].type(), *size);
  return {operands[0]};
}

constexpr std::array kBroadcastKeywords = {
    Keyword{"dims", Keyword::Value::kIntegers, "broadcast_dimensions"}};
constexpr std::array kIotaKeywords = {Keyword{"dim", Keyword::Value::kInteger, "iota_dimension"}};
constexpr std::array kSizeKeywords = {Keyword{"dim", Keyword::Value::kInteger, "dimension"}};

}  // namespace

const OpDefinition kDynamicBroadcastInDimOp{
    .name = "stablehlo.dynamic_broadcast_in_dim",
    .summary = "`broadcast_in_dim` to the shape in the last operand, which the result's type says.",
    .infer = infer<kBroadcast>,
    .evaluate = evaluate<kBroadcast>,
    .lowerings = {ExpandLowering{expand<kBroadcast>}},
    .traits = {.operands = {kAnyDType, kIntegers}},
    .syntax = {.keywords = kBroadcastKeywords},
    .attributes = "known_expanding_dimensions known_nonexpanding_dimensions",
};

const OpDefinition kDynamicConvOp{
    .name = "stablehlo.dynamic_conv",
    .summary = "`convolution` with the padding in the last operand, a constant.",
    .infer = infer<kConvolution>,
    .evaluate = evaluate<kConvolution>,
    .lowerings = {ExpandLowering{expand<kConvolution>}},
    .traits = {.operands = {kAnyDType, kAnyDType, kIntegers}},
    .attributes =
        "dimension_numbers window_strides lhs_dilation rhs_dilation window_reversal "
        "feature_group_count batch_group_count precision_config",
};

const OpDefinition kDynamicGatherOp{
    .name = "stablehlo.dynamic_gather",
    .summary = "`gather` of windows of the sizes in the last operand, a constant.",
    .infer = infer<kGather>,
    .evaluate = evaluate<kGather>,
    .lowerings = {ExpandLowering{expand<kGather>}},
    .traits = {.operands = {kAnyDType, kIntegers, kIntegers}},
    .attributes =
        "dimension_numbers offset_dims collapsed_slice_dims operand_batching_dims "
        "start_indices_batching_dims start_index_map index_vector_dim indices_are_sorted",
};

const OpDefinition kDynamicIotaOp{
    .name = "stablehlo.dynamic_iota",
    .summary = "`iota` of the shape in the operand, which the result's type says.",
    .infer = infer<kIota>,
    .evaluate = evaluate<kIota>,
    .lowerings = {ExpandLowering{expand<kIota>}},
    .traits = {.operands = {kIntegers}},
    .syntax = {.keywords = kIotaKeywords},
};

const OpDefinition kDynamicPadOp{
    .name = "stablehlo.dynamic_pad",
    .summary = "`pad` by the amounts in the last three operands, constants.",
    .infer = infer<kPad>,
    .evaluate = evaluate<kPad>,
    .lowerings = {ExpandLowering{expand<kPad>}},
    .traits = {.operands = {kAnyDType, kAnyDType, kIntegers, kIntegers, kIntegers}},
};

const OpDefinition kDynamicReshapeOp{
    .name = "stablehlo.dynamic_reshape",
    .summary = "`reshape` to the shape in the last operand, which the result's type says.",
    .infer = infer<kReshape>,
    .evaluate = evaluate<kReshape>,
    .lowerings = {ExpandLowering{expand<kReshape>}},
    .traits = {.operands = {kAnyDType, kIntegers}},
};

const OpDefinition kRealDynamicSliceOp{
    .name = "stablehlo.real_dynamic_slice",
    .summary = "`slice` of the ranges in the last three operands, constants.",
    .infer = infer<kSlice>,
    .evaluate = evaluate<kSlice>,
    .lowerings = {ExpandLowering{expand<kSlice>}},
    .traits = {.operands = {kAnyDType, kIntegers, kIntegers, kIntegers}},
};

const OpDefinition kSetDimensionSizeOp{
    .name = "stablehlo.set_dimension_size",
    .summary = "The operand, where the last one is a constant that says the size it has.",
    .infer = infer_size,
    .evaluate = evaluate_size,
    .lowerings = {ExpandLowering{expand_size}},
    .traits = {.operands = {kAnyDType, kIntegers}},
    .syntax = {.keywords = kSizeKeywords},
};

}  // namespace superstep
