// Orders.

#include <array>
#include <cmath>

#include "compiler/ops/elements.h"
#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"
#include "tests/regions.h"

namespace superstep {
namespace {

/// Of tensors with few elements: the reference evaluates the comparator for each pair.
bool is_sortable(const TensorType& type) { return has_dimensions(type) && type.elements() <= 300; }

Tensor in_total_order(const char* direction, Tensor a, Tensor b) {
  if (!is_float(a.dtype())) return compare(direction, a, b);
  Op rest;
  rest.attributes = {{"comparison_direction", std::string(direction)},
                     {"compare_type", std::string("TOTALORDER")}};
  return a.builder->apply(*find_op("stablehlo.compare"), {a, b}, std::move(rest));
}

/// Rows by some of their elements, one after the other where those before are equal.
Graph comparator(Random& random, const std::vector<DType>& dtypes, const Indices& keys) {
  std::vector<TensorType> arguments;
  for (const DType dtype : dtypes) {
    arguments.push_back({dtype, {}});
    arguments.push_back({dtype, {}});
  }
  return region_of(arguments, [&](std::span<const Tensor> rows) {
    std::optional<Tensor> before;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      Tensor a = rows[2 * static_cast<std::size_t>(*key)];
      Tensor b = rows[2 * static_cast<std::size_t>(*key) + 1];
      if (random.chance(20) && a.dtype() != DType::kI1) {
        a = -a;
        b = -b;
      }
      const Tensor first = in_total_order(random.chance(60) ? "LT" : "GT", a, b);
      before = before ? first | (in_total_order("EQ", a, b) & *before) : first;
    }
    return std::vector{*before};
  });
}

bool sort(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  std::vector<ValueId> operands{builder.any(kind.dtypes, is_sortable)};
  const Shape shape = builder.type(operands[0]).shape;
  while (operands.size() < 4 && random.chance(45)) {
    operands.push_back(builder.of_type({random_dtype(random), shape}));
  }
  std::vector<DType> dtypes;
  Indices candidates;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    dtypes.push_back(builder.type(operands[i]).dtype);
    if ((only(dtypes.back()) & kind.dtypes) != 0) {
      candidates.push_back(static_cast<std::int64_t>(i));
    }
  }
  Indices keys;
  for (const std::int64_t place : shuffled(random, candidates.size())) {
    if (keys.empty() || random.chance(50)) {
      keys.push_back(candidates[static_cast<std::size_t>(place)]);
    }
  }
  return builder.add(kind.op, std::move(operands),
                     {{"dimension", static_cast<std::int64_t>(random.below(shape.size()))},
                      {"is_stable", random.chance(70)}},
                     {comparator(random, dtypes, keys)});
}

bool top_k(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes, is_sortable);
  return builder.add(kind.op, {x},
                     {{"k", builder.random.between(0, builder.type(x).shape.back())}});
}

/// ApproxTopK along a dimension, by the first of two operands.
bool approximate_top_k(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, is_sortable);
  const TensorType type = builder.type(x);
  const DType index = DType::kI32;
  const ValueId indices = builder.of_type({index, type.shape});
  const auto along = static_cast<std::int64_t>(random.below(type.shape.size()));
  const std::int64_t k = random.between(0, type.shape[static_cast<std::size_t>(along)]);
  const ValueId low = builder.of_type({type.dtype, {}}), none = builder.of_type({index, {}});
  return builder.add(kind.op, {x, indices, low, none},
                     {{"call_target_name", std::string("ApproxTopK")},
                      {"mhlo.backend_config",
                       "{aggregate_to_topk = true, reduction_dim = " + std::to_string(along) +
                           " : i64, top_k = " + std::to_string(k) + " : i64}"}},
                     {comparator(random, {type.dtype, index}, {0})});
}

constexpr DTypeSet kKeys = kBits | kSimpleFloats;

constexpr std::array kKinds = {
    OpKind{"chlo.top_k", top_k, kKeys, Wants::kExact, 4},
    OpKind{"stablehlo.custom_call", approximate_top_k, kSimpleFloats, Wants::kExact},
    OpKind{"stablehlo.sort", sort, kKeys, Wants::kExact, 8},
};

}  // namespace

std::span<const OpKind> sort_kinds() { return kKinds; }

}  // namespace superstep
