// Elementwise ops whose operands are repeated to one shape first, as NumPy does or where
// `broadcast_dimensions` says.

#include <algorithm>
#include <fmt/format.h>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

constexpr const char* kPlaces = "broadcast_dimensions";

/// The common shape of operands, and the dimension of it that each of theirs is.
struct CommonShape {
  Shape shape;
  std::vector<Indices> places;

  CommonShape(const Op& op, const std::vector<Shape>& operands) {
    std::size_t rank = 0;
    for (const Shape& operand : operands) rank = std::max(rank, operand.size());
    shape.assign(rank, 1);
    for (const Shape& operand : operands) add(op, operand);
  }

 private:
  void add(const Op& op, const Shape& operand) {
    const std::size_t rank = shape.size(), behind = rank - operand.size();
    const bool are_given = op.attributes.contains(kPlaces) && behind > 0;
    Indices place;
    if (are_given) {
      static_cast<void>(index_list(op, kPlaces, operand.size()));
      place = dimension_list(op, kPlaces, rank);
    } else {
      place = all_dimensions(operand.size());
      for (std::int64_t& d : place) d += static_cast<std::int64_t>(behind);
    }
    for (std::size_t i = 0; i < operand.size(); ++i) {
      std::int64_t& size = shape[static_cast<std::size_t>(place[i])];
      if (size == 1) size = operand[i];
      if (operand[i] != 1 && operand[i] != size) {
        malformed(op, fmt::format("operands have {} and {} elements in dimension {}", size,
                                  operand[i], place[i]));
      }
    }
    places.push_back(std::move(place));
  }
};

/// The op whose operands have one shape.
Op plain_op(const OpDefinition& definition, const Op& op) {
  Op plain;
  plain.definition = &definition;
  plain.attributes = op.attributes;
  plain.attributes.erase(kPlaces);
  plain.location = op.location;
  return plain;
}

template <const OpDefinition& kOp>
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  std::vector<Shape> shapes;
  for (const TensorType& operand : operands) shapes.push_back(operand.shape);
  const CommonShape common(op, shapes);
  std::vector<TensorType> types;
  for (const TensorType& operand : operands) types.push_back({operand.dtype, common.shape});
  return infer_types(plain_op(kOp, op), types);
}

template <const OpDefinition& kOp>
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  std::vector<Shape> shapes;
  for (const HostTensor& operand : operands) shapes.push_back(operand.type.shape);
  const CommonShape common(op, shapes);
  std::vector<HostTensor> repeated;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Op broadcast;
    broadcast.attributes = {{kPlaces, common.places[i]}};
    broadcast.declared = {{operands[i].type.dtype, common.shape}};
    repeated.push_back(kBroadcastInDimOp.evaluate(broadcast, operands.subspan(i, 1))[0]);
  }
  return kOp.evaluate(plain_op(kOp, op), repeated);
}

template <const OpDefinition& kOp>
std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  const CommonShape common(op, shapes);
  std::vector<Tensor> repeated;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_whole = shapes[i] == common.shape;
    repeated.push_back(is_whole ? operands[i]
                                : broadcast(operands[i], common.shape, common.places[i]));
  }
  return builder.append(kOp, repeated, plain_op(kOp, op));
}

template <const OpDefinition& kOp>
constexpr OpDefinition broadcasting(std::string_view name, OperandTypes operands,
                                    std::string_view attributes = kPlaces) {
  return {.name = name,
          .summary = "The op of this name, of operands that are broadcast to one shape.",
          .infer = infer<kOp>,
          .evaluate = evaluate<kOp>,
          .lowerings = {ExpandLowering{expand<kOp>}},
          .traits = {.operands = operands, .is_shorthand = true},
          .attributes = attributes};
}

constexpr OperandTypes pair_of(DTypeSet set) { return {set, set}; }
constexpr DTypeSet kArithmetic = kNumbers | kComplex, kBits = kIntegers | kBooleans,
                   kContinuous = kFloats | kComplex, kParts = only(DType::kF32) | only(DType::kF64);

}  // namespace

const OpDefinition kBroadcastAddOp = broadcasting<kAddOp>("chlo.broadcast_add", pair_of(kAnyDType));
const OpDefinition kBroadcastAndOp = broadcasting<kAndOp>("chlo.broadcast_and", pair_of(kBits));
const OpDefinition kBroadcastAtan2Op =
    broadcasting<kAtan2Op>("chlo.broadcast_atan2", pair_of(kContinuous));
const OpDefinition kBroadcastCompareOp =
    broadcasting<kCompareOp>("chlo.broadcast_compare", pair_of(kAnyDType),
                             "broadcast_dimensions comparison_direction compare_type");
const OpDefinition kBroadcastComplexOp =
    broadcasting<kComplexOp>("chlo.broadcast_complex", pair_of(kParts));
const OpDefinition kBroadcastDivideOp =
    broadcasting<kDivideOp>("chlo.broadcast_divide", pair_of(kArithmetic));
const OpDefinition kBroadcastMaximumOp =
    broadcasting<kMaximumOp>("chlo.broadcast_maximum", pair_of(kAnyDType));
const OpDefinition kBroadcastMinimumOp =
    broadcasting<kMinimumOp>("chlo.broadcast_minimum", pair_of(kAnyDType));
const OpDefinition kBroadcastMultiplyOp =
    broadcasting<kMultiplyOp>("chlo.broadcast_multiply", pair_of(kAnyDType));
const OpDefinition kBroadcastNextAfterOp =
    broadcasting<kNextAfterOp>("chlo.broadcast_next_after", pair_of(kFloats));
const OpDefinition kBroadcastOrOp = broadcasting<kOrOp>("chlo.broadcast_or", pair_of(kBits));
const OpDefinition kBroadcastPolygammaOp =
    broadcasting<kPolygammaOp>("chlo.broadcast_polygamma", pair_of(kFloats));
const OpDefinition kBroadcastPowerOp =
    broadcasting<kPowerOp>("chlo.broadcast_power", pair_of(kArithmetic));
const OpDefinition kBroadcastRemainderOp =
    broadcasting<kRemainderOp>("chlo.broadcast_remainder", pair_of(kNumbers));
const OpDefinition kBroadcastSelectOp =
    broadcasting<kSelectOp>("chlo.broadcast_select", {kBooleans, kAnyDType, kAnyDType});
const OpDefinition kBroadcastShiftLeftOp =
    broadcasting<kShiftLeftOp>("chlo.broadcast_shift_left", pair_of(kIntegers));
const OpDefinition kBroadcastShiftRightArithmeticOp = broadcasting<kShiftRightArithmeticOp>(
    "chlo.broadcast_shift_right_arithmetic", pair_of(kIntegers));
const OpDefinition kBroadcastShiftRightLogicalOp =
    broadcasting<kShiftRightLogicalOp>("chlo.broadcast_shift_right_logical", pair_of(kIntegers));
const OpDefinition kBroadcastSubtractOp =
    broadcasting<kSubtractOp>("chlo.broadcast_subtract", pair_of(kArithmetic));
const OpDefinition kBroadcastXorOp = broadcasting<kXorOp>("chlo.broadcast_xor", pair_of(kBits));
const OpDefinition kBroadcastZetaOp =
    broadcasting<kZetaOp>("chlo.broadcast_zeta", pair_of(kFloats));

}  // namespace superstep
