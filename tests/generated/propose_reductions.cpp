// Elements combined by functions of scalars: reductions of dimensions and of windows.

#include <algorithm>
#include <array>

#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"
#include "tests/regions.h"

namespace superstep {
namespace {

constexpr DTypeSet kSummed = kNumbers | kComplex;

/// A function that gives the same in any order, of several ops.
Graph compound_reducer(Random& random, DType dtype) {
  return region_of({{dtype, {}}, {dtype, {}}}, [&](std::span<const Tensor> x) {
    const Tensor a = x[0], b = x[1];
    switch (random.below(4)) {
      case 0:
        return std::vector{a - -b};
      case 1:  // 1 less than the product of what is 1 more
        return std::vector{a + b + a * b};
      case 2:
        return std::vector{select(compare("GE", a, b), a, b)};
      default:
        return std::vector{(a | b) - (a & b)};
    }
  });
}

/// A region for elements of a type: mostly one op.
Graph reducer(Random& random, DType dtype) {
  constexpr std::array<std::string_view, 4> kNumberOps = {"stablehlo.add", "stablehlo.add",
                                                          "stablehlo.maximum", "stablehlo.minimum"};
  constexpr std::array<std::string_view, 3> kBitOps = {"stablehlo.and", "stablehlo.or",
                                                       "stablehlo.xor"};
  if (is_complex(dtype)) return binary_reducer("stablehlo.add", dtype);
  if (dtype == DType::kI1) return binary_reducer(random.pick(kBitOps), dtype);
  if (is_integer(dtype)) {
    if (random.chance(25)) return compound_reducer(random, dtype);
    if (random.chance(30)) return binary_reducer(random.pick(kBitOps), dtype);
    if (random.chance(10)) return binary_reducer("stablehlo.multiply", dtype);
  }
  return binary_reducer(random.pick(kNumberOps), dtype);
}

bool reduce(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes);
  const TensorType type = builder.type(x);
  const ValueId initial = builder.of_type({type.dtype, {}});
  return builder.add(kind.op, {x, initial}, {{"dimensions", subset(random, type.shape.size())}},
                     {reducer(random, type.dtype)});
}

/// Reduces some dimensions and combines the result, as it is and negated, with each element again.
bool reduce_and_spread(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  const TensorType type = builder.type(x);
  const ValueId initial = builder.of_type({type.dtype, {}});
  const Indices dimensions = subset(random, type.shape.size());
  Indices kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(type.shape.size()); ++d) {
    if (std::ranges::find(dimensions, d) == dimensions.end()) kept.push_back(d);
  }
  if (!builder.add(kind.op, {x, initial}, {{"dimensions", dimensions}},
                   {binary_reducer("stablehlo.maximum", type.dtype)})) {
    return false;
  }
  const ValueId most = builder.last();
  const auto spread = [&](ValueId v) {
    return builder.add("stablehlo.broadcast_in_dim", {v}, {{"broadcast_dimensions", kept}}, {},
                       {type}) &&
           builder.add("stablehlo.minimum", {x, builder.last()});
  };
  return spread(most) && builder.add("stablehlo.negate", {most}) && spread(builder.last());
}

bool arg_max(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array kIndex = {DType::kI32, DType::kI32, DType::kU32, DType::kI16, DType::kI64};
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  const TensorType type = builder.type(x);
  const TensorType positions{random.pick(kIndex), type.shape};
  const auto along = static_cast<std::int64_t>(random.below(type.shape.size()));
  if (!builder.add("stablehlo.iota", {}, {{"iota_dimension", along}}, {}, {positions})) {
    return false;
  }
  const ValueId iota = builder.last();
  const ValueId initial = builder.of_type({type.dtype, {}});
  const ValueId zero = builder.of_type({positions.dtype, {}});
  return builder.add(kind.op, {x, iota, initial, zero}, {{"dimensions", Indices{along}}},
                     {arg_max_reducer(type.dtype, positions.dtype)});
}

/// Two tensors at once: the lesser of one, and the sum, with the first one's bits, of the other.
bool reduce_pair(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId a = builder.any(kind.dtypes, has_dimensions);
  const TensorType type = builder.type(a);
  const DType other = random_dtype(random, kIntegers);
  const ValueId b = builder.of_type({other, type.shape});
  const ValueId first = builder.of_type({type.dtype, {}}), second = builder.of_type({other, {}});
  const TensorType x{type.dtype, {}}, y{other, {}};
  const Graph region = region_of({x, y, x, y}, [](std::span<const Tensor> t) {
    return std::vector{minimum(t[0], t[2]), t[1] + t[3]};
  });
  return builder.add(kind.op, {a, b, first, second},
                     {{"dimensions", subset(random, type.shape.size())}}, {region});
}

/// Windows of a tensor: sizes, and perhaps steps, padding and dilations.
Attributes random_windows(Random& random, const Shape& shape) {
  Shape sizes, strides, padding, base, dilations;
  const bool is_plain = random.chance(50);
  for (const std::int64_t size : shape) {
    sizes.push_back(random.chance(30) ? 1 : random.between(1, std::min<std::int64_t>(size, 5) + 1));
    strides.push_back(is_plain || random.chance(50) ? 1 : random.between(1, 3));
    base.push_back(is_plain || random.chance(70) ? 1 : random.between(1, 2));
    dilations.push_back(is_plain || random.chance(70) ? 1 : random.between(1, 3));
    for (int side = 0; side < 2; ++side) {
      padding.push_back(random.chance(50) ? 0 : random.between(is_plain ? 0 : -2, 3));
    }
  }
  Attributes attributes{{"window_dimensions", sizes}};
  if (!is_plain || random.chance(50)) {
    attributes["window_strides"] = strides;
    attributes["padding"] = padding;
  }
  if (!is_plain) {
    attributes["base_dilations"] = base;
    attributes["window_dilations"] = dilations;
  }
  return attributes;
}

/// Of tensors with few elements: the reference looks at each place of each window.
bool is_small(const TensorType& type) { return has_dimensions(type) && type.elements() <= 400; }

bool reduce_window(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, is_small);
  const TensorType type = builder.type(x);
  const ValueId initial = builder.of_type({type.dtype, {}});
  return builder.add(kind.op, {x, initial}, random_windows(random, type.shape),
                     {reducer(random, type.dtype)});
}

/// A running sum, maximum or another one, from either end.
bool cumulative(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(
      kind.dtypes, [](const TensorType& type) { return is_small(type) && type.elements() > 0; });
  const TensorType type = builder.type(x);
  const ValueId initial = builder.of_type({type.dtype, {}});
  const std::size_t along = random.below(type.shape.size());
  Shape sizes(type.shape.size(), 1), padding(2 * type.shape.size(), 0);
  sizes[along] = type.shape[along];
  padding[2 * along + random.below(2)] = type.shape[along] - 1;
  return builder.add(kind.op, {x, initial}, {{"window_dimensions", sizes}, {"padding", padding}},
                     {reducer(random, type.dtype)});
}

bool select_and_scatter(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array kSelects = {"GE", "GT", "LE", "LT"};
  constexpr std::array<std::string_view, 3> kScatters = {"stablehlo.add", "stablehlo.add",
                                                         "stablehlo.maximum"};
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, is_small);
  const TensorType type = builder.type(x);
  Shape sizes, strides, padding, sources;
  for (const std::int64_t size : type.shape) {
    sizes.push_back(random.between(1, std::min<std::int64_t>(size, 3) + 1));
    strides.push_back(random.between(1, 3));
    std::int64_t places = size;
    for (int side = 0; side < 2; ++side) {
      // Each window has an element.
      padding.push_back(random.chance(60) ? 0 : random.between(0, sizes.back() - 1));
      places += padding.back();
    }
    sources.push_back(places < sizes.back() ? 0 : (places - sizes.back()) / strides.back() + 1);
  }
  const TensorType scalar{type.dtype, {}};
  const Graph select = region_of({scalar, scalar}, [&](std::span<const Tensor> a) {
    return std::vector{compare(random.pick(kSelects), a[0], a[1])};
  });
  const ValueId source = builder.of_type({type.dtype, sources});
  const ValueId initial = builder.of_type(scalar);
  return builder.add(
      kind.op, {x, source, initial},
      {{"window_dimensions", sizes}, {"window_strides", strides}, {"padding", padding}},
      {select, binary_reducer(random.pick(kScatters), type.dtype)});
}

/// A few ops that round once.
bool map(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array<std::string_view, 6> kOps = {"stablehlo.add",      "stablehlo.multiply",
                                                    "stablehlo.maximum",  "stablehlo.minimum",
                                                    "stablehlo.multiply", "stablehlo.add"};
  Random& random = builder.random;
  std::vector<ValueId> operands{builder.any(kind.dtypes, is_small)};
  const TensorType type = builder.type(operands[0]);
  while (operands.size() < 3 && random.chance(60)) operands.push_back(builder.of_type(type));
  Indices dimensions(type.shape.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d) dimensions[d] = static_cast<std::int64_t>(d);
  const std::vector<TensorType> scalars(operands.size(), {type.dtype, {}});
  const Graph region = region_of(scalars, [&](std::span<const Tensor> arguments) {
    std::vector<Tensor> values(arguments.begin(), arguments.end());
    for (std::size_t i = random.below(4); i > 0; --i) {
      const OpDefinition& op = *find_op(random.pick(kOps));
      values.push_back(values[0].builder->apply(op, {random.pick(values), random.pick(values)}));
    }
    const Tensor result = values.back();
    if (random.chance(40)) return std::vector{compare("NE", result, values[0])};
    return std::vector{random.chance(40) ? convert(result, random_dtype(random, kNumbers))
                                         : result};
  });
  return builder.add(kind.op, std::move(operands), {{"dimensions", dimensions}}, {region});
}

constexpr DTypeSet kWindowed = kBits | kSimpleFloats | kComplex | kNarrowFloats;

constexpr std::array kKinds = {
    OpKind{"stablehlo.map", map, kNumbers, Wants::kExact, 3},
    OpKind{"stablehlo.reduce", reduce, kBits | kSummed, Wants::kAnything, 10},
    OpKind{"stablehlo.reduce", reduce_and_spread, kSignedIntegers | kFloats, Wants::kAnything, 8},
    OpKind{"stablehlo.reduce", arg_max, kNumbers, Wants::kExact, 5},
    OpKind{"stablehlo.reduce", reduce_pair, kNumbers, Wants::kExact, 3},
    OpKind{"stablehlo.reduce_window", reduce_window, kWindowed, Wants::kAnything, 6},
    OpKind{"stablehlo.reduce_window", cumulative, kWindowed, Wants::kAnything, 4},
    OpKind{"stablehlo.select_and_scatter", select_and_scatter, kNumbers, Wants::kExact, 4},
};

}  // namespace

std::span<const OpKind> reduction_kinds() { return kKinds; }

}  // namespace superstep
