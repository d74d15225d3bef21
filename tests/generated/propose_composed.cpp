// Ops that are other ones written shorter.

#include <algorithm>
#include <array>
#include <string>

#include "compiler/ops/elements.h"
#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"
#include "tests/regions.h"

namespace superstep {
namespace {

constexpr DTypeSet kArithmetic = kNumbers | kComplex;
constexpr DTypeSet kWords = only(DType::kI32) | only(DType::kU32) | only(DType::kF32);

/// A shape that is broadcast to that of another tensor.
Shape part_of(Random& random, const Shape& shape) {
  const std::size_t left_out = random.below(shape.size() + 1);
  Shape part(shape.begin() + static_cast<std::ptrdiff_t>(left_out), shape.end());
  for (std::int64_t& size : part) size = random.chance(30) ? 1 : size;
  return part;
}

bool broadcast(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes);
  const TensorType type = builder.type(x);
  const ValueId part = builder.of_type({type.dtype, part_of(random, type.shape)});
  Attributes attributes;
  if (kind.op == "chlo.broadcast_compare") {
    attributes["comparison_direction"] = std::string(random.chance(50) ? "EQ" : "NE");
  }
  if (kind.op == "chlo.broadcast_select") {
    const ValueId decides = builder.of_type({DType::kI1, part_of(random, type.shape)});
    return builder.add(kind.op, {decides, x, part});
  }
  return random.chance(50) ? builder.add(kind.op, {x, part}, std::move(attributes))
                           : builder.add(kind.op, {part, x}, std::move(attributes));
}

/// Of small orders.
bool polygamma(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes);
  HostTensor order(TensorType{builder.type(x).dtype, {}});
  write_float(order, 0, static_cast<double>(builder.random.below(4)));
  const TensorType type = order.type;
  return builder.add(kind.op, {builder.argument(type, exactly(std::move(order))), x});
}

bool unary(RandomProgram& builder, const OpKind& kind) {
  return builder.add(kind.op, {builder.any(kind.dtypes)});
}

bool constant_like(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes);
  return builder.add(kind.op, {x}, {{"value", std::int64_t{3}}}, {},
                     {{random_dtype(builder.random, kWords), builder.type(x).shape}});
}

bool broadcast_in_front(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  Indices sizes;
  for (std::size_t i = random.below(3); i > 0; --i) sizes.push_back(random.between(1, 3));
  const ValueId x = builder.any(
      kind.dtypes, [&](const TensorType& type) { return type.shape.size() + sizes.size() <= 5; });
  return builder.add(kind.op, {x}, {{"broadcast_sizes", sizes}});
}

bool dot(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, [](const TensorType& type) {
    return type.shape.size() == 1 || type.shape.size() == 2;
  });
  const TensorType type = builder.type(x);
  Shape right{type.shape.back()};
  if (random.chance(60)) right.push_back(random.between(1, 9));
  return builder.add(kind.op, {x, builder.of_type({type.dtype, right})});
}

/// Some labels of the operands, in any order.
std::string kept(Random& random, std::string labels) {
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  std::string result;
  for (const std::int64_t i : shuffled(random, labels.size())) {
    if (random.chance(60)) result.push_back(labels[static_cast<std::size_t>(i)]);
  }
  return result;
}

bool einsum(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x =
      builder.any(kind.dtypes, [](const TensorType& type) { return type.shape.size() <= 3; });
  const TensorType type = builder.type(x);
  std::string left, right;
  Shape other;
  for (std::size_t d = 0; d < type.shape.size(); ++d) left.push_back(static_cast<char>('a' + d));
  if (kind.op == "stablehlo.unary_einsum") {
    return builder.add(kind.op, {x}, {{"einsum_config", left + "->" + kept(random, left)}});
  }
  for (const std::int64_t d : shuffled(random, type.shape.size())) {
    if (random.chance(40)) continue;
    right.push_back(left[static_cast<std::size_t>(d)]);
    other.push_back(type.shape[static_cast<std::size_t>(d)]);
  }
  if (random.chance(50)) {
    right.push_back('z');
    other.push_back(random.between(1, 5));
  }
  return builder.add(kind.op, {x, builder.of_type({type.dtype, other})},
                     {{"einsum_config", left + "," + right + "->" + kept(random, left + right)}});
}

bool index_select(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, [](const TensorType& type) {
    return !type.shape.empty() && type.shape.size() <= 3 && type.elements() > 0;
  });
  const Shape shape = builder.type(x).shape;
  const std::size_t dimension = random.below(shape.size());
  const std::size_t batch = random.below(dimension + 1);
  Shape indices(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch));
  for (std::size_t i = random.below(3); i > 0; --i) indices.push_back(random.between(1, 4));
  HostTensor at(TensorType{DType::kI32, indices});
  for (std::size_t i = 0; i < static_cast<std::size_t>(at.type.elements()); ++i) {
    write_int(at, i, random.between(-1, shape[dimension] + 1));
  }
  const TensorType type = at.type;
  return builder.add(kind.op, {x, builder.argument(type, exactly(std::move(at)))},
                     {{"dim", static_cast<std::int64_t>(dimension)},
                      {"batch_dims", static_cast<std::int64_t>(batch)}});
}

bool ragged_dot(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId left = builder.any(kind.dtypes, [](const TensorType& type) {
    return type.shape.size() == 2 && type.elements() > 0;
  });
  const TensorType type = builder.type(left);
  const std::int64_t groups = random.between(1, 4), columns = random.between(1, 5);
  const bool contracts = random.chance(50);
  HostTensor sizes(TensorType{DType::kI32, {groups}});
  for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) {
    write_int(sizes, g, random.between(0, type.shape[contracts ? 1 : 0]));
  }
  Shape right{type.shape[1], columns};
  if (!contracts) right.insert(right.begin(), groups);
  const Indices none, first{0}, second{1};
  const ValueId rhs = builder.of_type({type.dtype, right});
  const TensorType counts = sizes.type;
  return builder.add(kind.op, {left, rhs, builder.argument(counts, exactly(std::move(sizes)))},
                     {{"lhs_batching_dimensions", none},
                      {"rhs_batching_dimensions", none},
                      {"lhs_contracting_dimensions", second},
                      {"rhs_contracting_dimensions", contracts ? first : second},
                      {"lhs_ragged_dimensions", contracts ? second : first},
                      {"rhs_group_dimensions", contracts ? none : first}});
}

/// Elements and what is carried are added, the elements put out doubled.
bool scan(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  constexpr std::int64_t kMostPlaces = 9;
  const ValueId x = builder.any(kind.dtypes, [](const TensorType& type) {
    return !type.shape.empty() && type.shape[0] <= kMostPlaces;
  });
  const TensorType type = builder.type(x);
  const TensorType place{type.dtype, {type.shape.begin() + 1, type.shape.end()}};
  Graph region = region_of({place, place}, [](std::span<const Tensor> a) {
    return std::vector{a[0] + a[0], a[0] + a[1]};
  });
  return builder.add(kind.op, {x, builder.of_type(place)},
                     {{"operandSegmentSizes", Indices{1, 1}},
                      {"dimension", std::int64_t{0}},
                      {"is_reverse", random.chance(50)}},
                     {std::move(region)});
}

constexpr std::array kKinds = {
    OpKind{"chlo.broadcast_add", broadcast, kArithmetic},
    OpKind{"chlo.broadcast_and", broadcast, kBits},
    OpKind{"chlo.broadcast_atan2", broadcast, kTileFloats, Wants::kExact},
    OpKind{"chlo.broadcast_compare", broadcast, kAnyDType, Wants::kExact},
    OpKind{"chlo.broadcast_complex", broadcast, only(DType::kF32)},
    OpKind{"chlo.broadcast_divide", broadcast, kArithmetic},
    OpKind{"chlo.broadcast_maximum", broadcast, kAnyDType},
    OpKind{"chlo.broadcast_minimum", broadcast, kAnyDType},
    OpKind{"chlo.broadcast_multiply", broadcast, kArithmetic},
    OpKind{"chlo.broadcast_next_after", broadcast, kTileFloats, Wants::kExact},
    OpKind{"chlo.broadcast_or", broadcast, kBits},
    OpKind{"chlo.broadcast_polygamma", polygamma, kTileFloats, Wants::kModerate},
    OpKind{"chlo.broadcast_power", broadcast, kTileFloats, Wants::kExact},
    OpKind{"chlo.broadcast_remainder", broadcast, kNumbers, Wants::kExact},
    OpKind{"chlo.broadcast_select", broadcast, kAnyDType},
    OpKind{"chlo.broadcast_shift_left", broadcast, kIntegers},
    OpKind{"chlo.broadcast_shift_right_arithmetic", broadcast, kIntegers},
    OpKind{"chlo.broadcast_shift_right_logical", broadcast, kIntegers},
    OpKind{"chlo.broadcast_subtract", broadcast, kArithmetic},
    OpKind{"chlo.broadcast_xor", broadcast, kBits},
    OpKind{"chlo.broadcast_zeta", broadcast, kTileFloats, Wants::kModerate},
    OpKind{"chlo.conj", unary, kComplex | kSimpleFloats},
    OpKind{"chlo.constant_like", constant_like},
    OpKind{"chlo.ragged_dot", ragged_dot, kWords},
    OpKind{"chlo.scan", scan, kWords},
    OpKind{"stablehlo.broadcast", broadcast_in_front},
    OpKind{"stablehlo.dot", dot, kTileFloats | only(DType::kI32)},
    OpKind{"stablehlo.einsum", einsum, kWords},
    OpKind{"stablehlo.torch_index_select", index_select},
    OpKind{"stablehlo.unary_einsum", einsum, kWords},
};

}  // namespace

std::span<const OpKind> composed_kinds() { return kKinds; }

}  // namespace superstep
