// Movement of elements.

#include <algorithm>
#include <array>

#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

bool broadcast(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x =
      builder.any(kind.dtypes, [](const TensorType& type) { return type.shape.size() < 5; });
  const Shape& from = builder.type(x).shape;
  const std::size_t rank = from.size() + random.below(6 - from.size());
  Indices dimensions = shuffled(random, rank);
  dimensions.resize(from.size());
  if (random.chance(80)) std::ranges::sort(dimensions);
  Shape to;
  for (std::size_t d = 0; d < rank; ++d) to.push_back(random.between(1, 6));
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) to[static_cast<std::size_t>(dimensions[i])] = from[i];
  }
  return builder.add(kind.op, {x}, {{"broadcast_dimensions", dimensions}}, {},
                     {{builder.type(x).dtype, to}});
}

bool transpose(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes);
  return builder.add(kind.op, {x},
                     {{"permutation", shuffled(builder.random, builder.type(x).shape.size())}});
}

bool reshape(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array<std::int64_t, 7> kFactors = {2, 3, 4, 5, 7, 8, 13};
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes);
  std::int64_t rest = builder.type(x).elements();
  Shape to;
  while (to.size() < 4 && random.chance(70)) {
    const std::int64_t factor = random.chance(20) ? 1 : random.pick(kFactors);
    if (rest % factor != 0) continue;
    to.push_back(factor);
    rest /= factor;
  }
  if (rest != 1) to.push_back(rest);
  return builder.add(kind.op, {x}, {}, {}, {{builder.type(x).dtype, to}});
}

bool slice(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  Indices start, limit, strides;
  for (const std::int64_t size : builder.type(x).shape) {
    const bool whole = random.chance(40);
    start.push_back(whole ? 0 : random.between(0, size));
    limit.push_back(whole ? size : random.between(std::min(start.back() + 1, size), size));
    strides.push_back(random.chance(70) ? 1 : random.between(1, 3));
  }
  return builder.add(kind.op, {x},
                     {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
}

bool concatenate(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId first = builder.any(kind.dtypes, has_dimensions);
  const std::size_t along = random.below(builder.type(first).shape.size());
  std::vector<ValueId> operands = {first};
  for (std::size_t more = random.below(3); more > 0; --more) {
    TensorType type = builder.type(first);
    if (random.chance(60)) type.shape[along] = random.between(0, 5);
    operands.push_back(builder.of_type(type));
  }
  std::swap(operands[0], operands[random.below(operands.size())]);
  return builder.add(kind.op, operands, {{"dimension", static_cast<std::int64_t>(along)}});
}

bool pad(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  const ValueId value = builder.of_type({builder.type(x).dtype, {}});
  Indices low, high, interior;
  for (const std::int64_t size : builder.type(x).shape) {
    interior.push_back(random.chance(70) ? 0 : random.between(1, 2));
    low.push_back(random.chance(50) ? 0 : random.between(-2, 3));
    high.push_back(random.chance(50) ? 0 : random.between(-2, 3));
    const std::int64_t inside = size + std::max<std::int64_t>(size - 1, 0) * interior.back();
    if (low.back() + inside + high.back() < 0) low.back() = high.back() = 0;
  }
  return builder.add(
      kind.op, {x, value},
      {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}});
}

bool reverse(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  return builder.add(kind.op, {x},
                     {{"dimensions", subset(builder.random, builder.type(x).shape.size())}});
}

bool iota(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const TensorType type{random_dtype(random, kind.dtypes), {random.between(0, 40), 3}};
  return builder.add(kind.op, {}, {{"iota_dimension", static_cast<std::int64_t>(random.below(2))}},
                     {}, {type});
}

bool constant(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const TensorType type{random_dtype(random, kind.dtypes), random_shape(random, 100)};
  return builder.add(kind.op, {}, {{"value", random_tensor(random, type)}});
}

bool dimension_size(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  const auto d = static_cast<std::int64_t>(builder.random.below(builder.type(x).shape.size()));
  return builder.add(kind.op, {x}, {{"dimension", d}});
}

bool barrier(RandomProgram& builder, const OpKind& kind) {
  std::vector<ValueId> operands;
  for (std::size_t i = builder.random.below(3) + 1; i > 0; --i) {
    operands.push_back(builder.any(kind.dtypes));
  }
  return builder.add(kind.op, std::move(operands));
}

constexpr DTypeSet kCounted = (kNumbers | kComplex) & ~kNarrowFloats;

constexpr std::array kKinds = {
    OpKind{"stablehlo.broadcast_in_dim", broadcast, kAnyDType, Wants::kAnything, 9},
    OpKind{"stablehlo.concatenate", concatenate, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.constant", constant, kAnyDType},
    OpKind{"stablehlo.get_dimension_size", dimension_size, kAnyDType},
    OpKind{"stablehlo.iota", iota, kCounted},
    OpKind{"stablehlo.optimization_barrier", barrier, kAnyDType, Wants::kAnything, 2},
    OpKind{"stablehlo.pad", pad, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.reshape", reshape, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.reverse", reverse, kAnyDType, Wants::kAnything, 4},
    OpKind{"stablehlo.slice", slice, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.transpose", transpose, kAnyDType, Wants::kAnything, 5},
};

}  // namespace

std::span<const OpKind> rearrange_kinds() { return kKinds; }

}  // namespace superstep
