#include "tests/generated/propose.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/generated/propose_indexing.h"
#include "tests/regions.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

using Indices = std::vector<std::int64_t>;
using Names = std::span<const std::string_view>;

constexpr std::array kAll = {DType::kI1,  DType::kI8,  DType::kI16,  DType::kI32, DType::kU8,
                             DType::kU16, DType::kU32, DType::kBF16, DType::kF16, DType::kF32};
constexpr std::span<const DType> kNumbers(kAll.data() + 1, 9);
constexpr std::span<const DType> kIntegers(kAll.data() + 1, 6);
constexpr std::span<const DType> kBits(kAll.data(), 7);
constexpr std::span<const DType> kFloats(kAll.data() + 7, 3);
constexpr std::array kSigned = {DType::kI8,   DType::kI16, DType::kI32,
                                DType::kBF16, DType::kF16, DType::kF32};
constexpr std::array kPredicate = {DType::kI1};

bool has_dimensions(const TensorType& type) { return !type.shape.empty(); }

/// 0 … n - 1 in random order.
Indices shuffled(Random& random, std::size_t n) {
  Indices order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// Some of 0 … n - 1, ascending.
Indices subset(Random& random, std::size_t n) {
  Indices chosen;
  for (std::size_t i = 0; i < n; ++i) {
    if (random.chance(50)) chosen.push_back(static_cast<std::int64_t>(i));
  }
  return chosen;
}

bool unary(RandomProgram& builder) {
  constexpr std::array<std::string_view, 18> kFloatOps = {
      "stablehlo.floor",       "stablehlo.ceil",
      "stablehlo.sqrt",        "stablehlo.round_nearest_afz",
      "stablehlo.exponential", "stablehlo.round_nearest_even",
      "stablehlo.log",         "stablehlo.exponential_minus_one",
      "stablehlo.tanh",        "stablehlo.log_plus_one",
      "stablehlo.logistic",    "stablehlo.is_finite",
      "stablehlo.rsqrt",       "stablehlo.cbrt",
      "stablehlo.tanh",        "stablehlo.exponential",
      "stablehlo.sqrt",        "chlo.square"};
  constexpr std::array<std::string_view, 2> kSignedOps = {"stablehlo.abs", "stablehlo.sign"};
  constexpr std::array<std::string_view, 1> kNumberOps = {"stablehlo.negate"};
  constexpr std::array<std::string_view, 2> kIntegerOps = {"stablehlo.popcnt",
                                                           "stablehlo.count_leading_zeros"};
  constexpr std::array<std::string_view, 1> kBitOps = {"stablehlo.not"};
  Random& random = builder.random;
  const std::array<std::pair<Names, std::span<const DType>>, 6> kinds = {{{kFloatOps, kFloats},
                                                                          {kFloatOps, kFloats},
                                                                          {kSignedOps, kSigned},
                                                                          {kNumberOps, kNumbers},
                                                                          {kIntegerOps, kIntegers},
                                                                          {kBitOps, kBits}}};
  const auto& [names, dtypes] = random.pick(kinds);
  return builder.add(random.pick(names), {builder.any(dtypes)});
}

bool binary(RandomProgram& builder) {
  constexpr std::array<std::string_view, 4> kAnyOps = {"stablehlo.add", "stablehlo.multiply",
                                                       "stablehlo.maximum", "stablehlo.minimum"};
  constexpr std::array<std::string_view, 4> kNumberOps = {"stablehlo.subtract", "stablehlo.divide",
                                                          "stablehlo.remainder", "stablehlo.power"};
  constexpr std::array<std::string_view, 3> kBitOps = {"stablehlo.and", "stablehlo.or",
                                                       "stablehlo.xor"};
  constexpr std::array<std::string_view, 3> kShiftOps = {
      "stablehlo.shift_left", "stablehlo.shift_right_logical", "stablehlo.shift_right_arithmetic"};
  constexpr std::array<std::string_view, 4> kFloatOps = {"stablehlo.atan2", "stablehlo.add",
                                                         "stablehlo.multiply", "stablehlo.divide"};
  Random& random = builder.random;
  const std::array<std::pair<Names, std::span<const DType>>, 8> kinds = {{{kAnyOps, kAll},
                                                                          {kAnyOps, kAll},
                                                                          {kAnyOps, kAll},
                                                                          {kNumberOps, kNumbers},
                                                                          {kNumberOps, kNumbers},
                                                                          {kBitOps, kBits},
                                                                          {kShiftOps, kIntegers},
                                                                          {kFloatOps, kFloats}}};
  const auto& [names, dtypes] = random.pick(kinds);
  const ValueId a = builder.any(dtypes);
  const ValueId b = builder.of_type(builder.type(a));
  return random.chance(50) ? builder.add(random.pick(names), {a, b})
                           : builder.add(random.pick(names), {b, a});
}

bool compare(RandomProgram& builder) {
  constexpr std::array kDirections = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  Random& random = builder.random;
  const ValueId a = builder.any(kAll);
  const DType dtype = builder.type(a).dtype;
  Attributes attributes = {{"comparison_direction", std::string(random.pick(kDirections))}};
  if (random.chance(50)) {
    attributes["compare_type"] =
        std::string(is_float(dtype)    ? random.chance(50) ? "FLOAT" : "TOTALORDER"
                    : is_signed(dtype) ? "SIGNED"
                                       : "UNSIGNED");
  }
  return builder.add("stablehlo.compare", {a, builder.of_type(builder.type(a))},
                     std::move(attributes));
}

bool select(RandomProgram& builder) {
  const ValueId predicate = builder.any(kPredicate);
  const ValueId a =
      builder.type(predicate).shape.empty()
          ? builder.any(kAll)
          : builder.of_type({random_dtype(builder.random), builder.type(predicate).shape});
  return builder.add("stablehlo.select", {predicate, a, builder.of_type(builder.type(a))});
}

bool clamp(RandomProgram& builder) {
  const ValueId x = builder.any(kAll);
  const auto bound = [&] {
    return builder.of_type(builder.random.chance(50) ? TensorType{builder.type(x).dtype, {}}
                                                     : builder.type(x));
  };
  const ValueId low = bound();
  return builder.add("stablehlo.clamp", {low, x, bound()});
}

bool convert(RandomProgram& builder) {
  const ValueId x = builder.any(kAll);
  const DType to = random_dtype(builder.random);
  return builder.add("stablehlo.convert", {x}, {}, {}, {{to, builder.type(x).shape}});
}

bool bitcast(RandomProgram& builder) {
  const ValueId x = builder.any(kNumbers);
  std::vector<DType> same_width;
  for (const DType dtype : kNumbers) {
    if (size_of(dtype) == size_of(builder.type(x).dtype)) same_width.push_back(dtype);
  }
  return builder.add("stablehlo.bitcast_convert", {x}, {}, {},
                     {{builder.random.pick(same_width), builder.type(x).shape}});
}

bool broadcast(RandomProgram& builder) {
  Random& random = builder.random;
  const ValueId x = builder.any(kAll, [](const TensorType& type) { return type.shape.size() < 5; });
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
  return builder.add("stablehlo.broadcast_in_dim", {x}, {{"broadcast_dimensions", dimensions}}, {},
                     {{builder.type(x).dtype, to}});
}

bool transpose(RandomProgram& builder) {
  const ValueId x = builder.any(kAll);
  return builder.add("stablehlo.transpose", {x},
                     {{"permutation", shuffled(builder.random, builder.type(x).shape.size())}});
}

bool reshape(RandomProgram& builder) {
  constexpr std::array<std::int64_t, 7> kFactors = {2, 3, 4, 5, 7, 8, 13};
  Random& random = builder.random;
  const ValueId x = builder.any(kAll);
  std::int64_t rest = builder.type(x).elements();
  Shape to;
  while (to.size() < 4 && random.chance(70)) {
    const std::int64_t factor = random.chance(20) ? 1 : random.pick(kFactors);
    if (rest % factor != 0) continue;
    to.push_back(factor);
    rest /= factor;
  }
  if (rest != 1) to.push_back(rest);
  return builder.add("stablehlo.reshape", {x}, {}, {}, {{builder.type(x).dtype, to}});
}

bool slice(RandomProgram& builder) {
  Random& random = builder.random;
  const ValueId x = builder.any(kAll, has_dimensions);
  Indices start, limit, strides;
  for (const std::int64_t size : builder.type(x).shape) {
    const bool whole = random.chance(40);
    start.push_back(whole ? 0 : random.between(0, size));
    limit.push_back(whole ? size : random.between(std::min(start.back() + 1, size), size));
    strides.push_back(random.chance(70) ? 1 : random.between(1, 3));
  }
  return builder.add("stablehlo.slice", {x},
                     {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
}

bool concatenate(RandomProgram& builder) {
  Random& random = builder.random;
  const ValueId first = builder.any(kAll, has_dimensions);
  const std::size_t along = random.below(builder.type(first).shape.size());
  std::vector<ValueId> operands = {first};
  for (std::size_t more = random.below(3); more > 0; --more) {
    TensorType type = builder.type(first);
    if (random.chance(60)) type.shape[along] = random.between(0, 5);
    operands.push_back(builder.of_type(type));
  }
  std::swap(operands[0], operands[random.below(operands.size())]);
  return builder.add("stablehlo.concatenate", operands,
                     {{"dimension", static_cast<std::int64_t>(along)}});
}

bool pad(RandomProgram& builder) {
  Random& random = builder.random;
  const ValueId x = builder.any(kAll, has_dimensions);
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
      "stablehlo.pad", {x, value},
      {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}});
}

bool reverse(RandomProgram& builder) {
  const ValueId x = builder.any(kAll, has_dimensions);
  return builder.add("stablehlo.reverse", {x},
                     {{"dimensions", subset(builder.random, builder.type(x).shape.size())}});
}

bool reduce(RandomProgram& builder) {
  constexpr std::array<std::string_view, 4> kNumberOps = {"stablehlo.add", "stablehlo.add",
                                                          "stablehlo.maximum", "stablehlo.minimum"};
  constexpr std::array<std::string_view, 3> kBitOps = {"stablehlo.and", "stablehlo.or",
                                                       "stablehlo.xor"};
  Random& random = builder.random;
  const bool bits = random.chance(25);
  const ValueId x = builder.any(bits ? kBits : kNumbers);
  const TensorType type = builder.type(x);
  const ValueId initial = builder.of_type({type.dtype, {}});
  return builder.add(
      "stablehlo.reduce", {x, initial}, {{"dimensions", subset(random, type.shape.size())}},
      {binary_reducer(bits ? random.pick(kBitOps) : random.pick(kNumberOps), type.dtype)});
}

/// Reduces some dimensions and combines the result, as it is and negated, with each element again.
bool reduce_and_spread(RandomProgram& builder) {
  Random& random = builder.random;
  const auto last = [&] {
    return ValueId{static_cast<std::uint32_t>(builder.values().size() - 1)};
  };
  const ValueId x = builder.any(kSigned, has_dimensions);
  const TensorType type = builder.type(x);
  const ValueId initial = builder.of_type({type.dtype, {}});
  const Indices dimensions = subset(random, type.shape.size());
  Indices kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(type.shape.size()); ++d) {
    if (std::ranges::find(dimensions, d) == dimensions.end()) kept.push_back(d);
  }
  if (!builder.add("stablehlo.reduce", {x, initial}, {{"dimensions", dimensions}},
                   {binary_reducer("stablehlo.maximum", type.dtype)})) {
    return false;
  }
  const ValueId most = last();
  const auto spread = [&](ValueId v) {
    return builder.add("stablehlo.broadcast_in_dim", {v}, {{"broadcast_dimensions", kept}}, {},
                       {type}) &&
           builder.add("stablehlo.minimum", {x, last()});
  };
  return spread(most) && builder.add("stablehlo.negate", {most}) && spread(last());
}

bool arg_max(RandomProgram& builder) {
  constexpr std::array kIndex = {DType::kI32, DType::kI32, DType::kU32, DType::kI16};
  Random& random = builder.random;
  const ValueId x = builder.any(kNumbers, has_dimensions);
  const TensorType type = builder.type(x);
  const TensorType positions{random.pick(kIndex), type.shape};
  const auto along = static_cast<std::int64_t>(random.below(type.shape.size()));
  if (!builder.add("stablehlo.iota", {}, {{"iota_dimension", along}}, {}, {positions})) {
    return false;
  }
  const ValueId iota{static_cast<std::uint32_t>(builder.values().size() - 1)};
  const ValueId initial = builder.of_type({type.dtype, {}});
  const ValueId zero = builder.of_type({positions.dtype, {}});
  return builder.add("stablehlo.reduce", {x, iota, initial, zero}, {{"dimensions", Indices{along}}},
                     {arg_max_reducer(type.dtype, positions.dtype)});
}

bool dot(RandomProgram& builder) {
  constexpr std::array kDTypes = {DType::kF32, DType::kF32, DType::kF32,  DType::kF16,
                                  DType::kF16, DType::kI8,  DType::kI32,  DType::kU8,
                                  DType::kI16, DType::kI1,  DType::kBF16, DType::kBF16};
  Random& random = builder.random;
  const DType dtype = random.pick(kDTypes);
  const std::array<DType, 1> only = {dtype};
  const ValueId lhs = builder.any(only, [](const TensorType& type) {
    return type.shape.size() >= 1 && type.shape.size() <= 4;
  });
  const Shape left = builder.type(lhs).shape;

  // The right side: dimensions shared with the left in random places among up to two of its own.
  const Indices order = shuffled(random, left.size());
  const std::size_t contracting = random.below(std::min<std::size_t>(left.size(), 2) + 1);
  const std::size_t batching = random.below(left.size() - contracting + 1);
  const std::size_t shared = contracting + batching;
  const std::size_t rank = shared + random.below(3);
  const Indices places = shuffled(random, rank);
  Shape right(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    right[static_cast<std::size_t>(places[i])] =
        i < shared ? left[static_cast<std::size_t>(order[i])] : random.between(1, 9);
  }
  const auto part = [](const Indices& all, std::size_t begin, std::size_t count) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return Indices(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const TensorType right_type{dtype, right};
  if (right_type.elements() > 2000) return false;
  const ValueId rhs = builder.of_type(right_type);

  Shape result;
  const Indices batch = part(order, contracting, batching);
  for (const std::int64_t d : batch) result.push_back(left[static_cast<std::size_t>(d)]);
  for (std::size_t d = 0; d < left.size(); ++d) {
    const auto used = order.begin() + static_cast<std::ptrdiff_t>(shared);
    if (std::find(order.begin(), used, static_cast<std::int64_t>(d)) == used) {
      result.push_back(left[d]);
    }
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const auto used = places.begin() + static_cast<std::ptrdiff_t>(shared);
    if (std::find(places.begin(), used, static_cast<std::int64_t>(d)) == used) {
      result.push_back(right[d]);
    }
  }
  DType wide = dtype;
  if (random.chance(50)) {
    if (is_short_float(dtype)) wide = DType::kF32;
    if (dtype == DType::kI8 || dtype == DType::kI16) wide = DType::kI32;
    if (dtype == DType::kU8 || dtype == DType::kI1) wide = DType::kU32;
  }
  return builder.add("stablehlo.dot_general", {lhs, rhs},
                     {{"lhs_batching_dimensions", batch},
                      {"rhs_batching_dimensions", part(places, contracting, batching)},
                      {"lhs_contracting_dimensions", part(order, 0, contracting)},
                      {"rhs_contracting_dimensions", part(places, 0, contracting)}},
                     {}, {{wide, result}});
}

}  // namespace

bool propose_op(RandomProgram& builder) {
  using Propose = bool (*)(RandomProgram&);
  constexpr std::array<Propose, 38> kKinds = {unary,
                                              unary,
                                              unary,
                                              unary,
                                              binary,
                                              binary,
                                              binary,
                                              binary,
                                              binary,
                                              binary,
                                              compare,
                                              select,
                                              clamp,
                                              convert,
                                              convert,
                                              bitcast,
                                              broadcast,
                                              broadcast,
                                              transpose,
                                              reshape,
                                              slice,
                                              concatenate,
                                              pad,
                                              reverse,
                                              reduce,
                                              reduce,
                                              dot,
                                              dot,
                                              arg_max,
                                              reduce_and_spread,
                                              reduce_and_spread,
                                              propose_loop,
                                              propose_case,
                                              propose_dynamic_slice,
                                              propose_dynamic_update_slice,
                                              propose_gather,
                                              propose_gather,
                                              propose_scatter};
  return builder.random.pick(kKinds)(builder);
}

}  // namespace superstep
