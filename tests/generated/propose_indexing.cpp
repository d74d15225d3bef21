// Ops whose places in tensors are known at run time only.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tests/generated/op_kind.h"
#include "tests/regions.h"

namespace superstep {
namespace {

constexpr std::array kIndices = {DType::kI32, DType::kI32, DType::kI8, DType::kU8,
                                 DType::kU32, DType::kI64, DType::kU64};

bool is_indexable(const TensorType& type) { return !type.shape.empty() && type.elements() > 0; }

/// A window of each dimension; `most` is what a dimension has.
Shape window_in(Random& random, const Shape& shape) {
  Shape sizes;
  for (const std::int64_t size : shape) {
    sizes.push_back(random.chance(40) ? size : random.between(1, size));
  }
  return sizes;
}

/// Operands and the start indices of all dimensions.
std::vector<ValueId> with_starts(RandomProgram& builder, std::vector<ValueId> operands) {
  const DType dtype = builder.random.pick(kIndices);
  const std::size_t rank = builder.type(operands[0]).shape.size();
  for (std::size_t i = 0; i < rank; ++i) operands.push_back(builder.of_type({dtype, {}}));
  return operands;
}

/// How vectors of indices, one for each place, name windows of a tensor.
struct Places {
  Shape window;               ///< by dimension
  std::vector<bool> is_kept;  ///< whether results or updates have the dimension
  Indices map;
  std::optional<std::int64_t> batching;  ///< the dimension that goes with the first of the indices
  Shape indices;
  std::int64_t vector_dimension = 0;
  Shape windows;   ///< all windows
  Indices within;  ///< dimensions of these that are of windows
};

Places random_places(Random& random, const Shape& shape) {
  Places places;
  places.window = window_in(random, shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    const bool is_batching = !places.batching && random.chance(20);
    if (is_batching) places.batching = d;
    const bool is_left_out = is_batching || random.chance(40);
    if (is_left_out) places.window[i] = 1;
    places.is_kept.push_back(!is_left_out);
    if (!is_batching && random.chance(is_left_out ? 90 : 50)) places.map.push_back(d);
  }
  if (random.chance(50)) std::ranges::reverse(places.map);
  if (places.batching) {
    places.indices.push_back(shape[static_cast<std::size_t>(*places.batching)]);
  }
  for (std::size_t more = random.below(3); more > 0; --more) {
    places.indices.push_back(random.between(1, 9));
  }
  // Windows' dimensions lie anywhere among those of places.
  std::size_t place = 0, dimension = 0;
  const auto next_kept = [&] {
    while (dimension < shape.size() && !places.is_kept[dimension]) ++dimension;
    return dimension < shape.size();
  };
  while (next_kept() || place < places.indices.size()) {
    const bool takes_window = next_kept() && (place == places.indices.size() || random.chance(30));
    if (takes_window) {
      places.within.push_back(static_cast<std::int64_t>(places.windows.size()));
      places.windows.push_back(places.window[dimension++]);
    } else {
      places.windows.push_back(places.indices[place++]);
    }
  }
  places.vector_dimension = static_cast<std::int64_t>(places.indices.size());
  if (places.map.size() != 1 || random.chance(50)) {
    // The first dimension stays that of the batches.
    const auto first = static_cast<std::int64_t>(places.batching ? 1 : 0);
    places.vector_dimension = random.between(first, places.vector_dimension);
    places.indices.insert(places.indices.begin() + places.vector_dimension,
                          static_cast<std::int64_t>(places.map.size()));
  }
  return places;
}

Indices left_out(const Places& places) {
  Indices dimensions;
  for (std::size_t i = 0; i < places.is_kept.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    if (!places.is_kept[i] && places.batching != d) dimensions.push_back(d);
  }
  return dimensions;
}

Indices batching(const Places& places) {
  return places.batching ? Indices{*places.batching} : Indices{};
}

Indices batching_of_indices(const Places& places) {
  return places.batching ? Indices{0} : Indices{};
}

Attributes scatter_attributes(const Places& places) {
  return {{"update_window_dims", places.within},
          {"inserted_window_dims", left_out(places)},
          {"input_batching_dims", batching(places)},
          {"scatter_indices_batching_dims", batching_of_indices(places)},
          {"scatter_dims_to_operand_dims", places.map},
          {"index_vector_dim", places.vector_dimension}};
}

bool dynamic_slice(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes, is_indexable);
  const Shape sizes = window_in(builder.random, builder.type(x).shape);
  return builder.add(kind.op, with_starts(builder, {x}), {{"slice_sizes", sizes}});
}

bool dynamic_update_slice(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes, is_indexable);
  const TensorType type = builder.type(x);
  const ValueId update = builder.of_type({type.dtype, window_in(builder.random, type.shape)});
  return builder.add(kind.op, with_starts(builder, {x, update}));
}

bool gather(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes, is_indexable);
  const Places places = random_places(builder.random, builder.type(x).shape);
  const ValueId indices = builder.of_type({builder.random.pick(kIndices), places.indices});
  return builder.add(kind.op, {x, indices},
                     {{"offset_dims", places.within},
                      {"collapsed_slice_dims", left_out(places)},
                      {"operand_batching_dims", batching(places)},
                      {"start_indices_batching_dims", batching_of_indices(places)},
                      {"start_index_map", places.map},
                      {"index_vector_dim", places.vector_dimension},
                      {"slice_sizes", places.window}});
}

bool scatter(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array<std::string_view, 4> kOps = {"stablehlo.add", "stablehlo.maximum",
                                                    "stablehlo.minimum", "stablehlo.multiply"};
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, is_indexable);
  const DType dtype = builder.type(x).dtype;
  const Places places = random_places(random, builder.type(x).shape);
  const TensorType updates{dtype, places.windows};
  if (updates.elements() > 2000) return false;
  const ValueId indices = builder.of_type({random.pick(kIndices), places.indices});
  const Graph region =
      random.chance(40) ? replacing_reducer(dtype) : binary_reducer(random.pick(kOps), dtype);
  return builder.add(kind.op, {x, indices, builder.of_type(updates)}, scatter_attributes(places),
                     {region});
}

/// Two tensors whose windows at the same places are combined at once.
bool scatter_pair(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, is_indexable);
  const TensorType type = builder.type(x);
  const DType other = DType::kI32;
  const ValueId y = builder.of_type({other, type.shape});
  const Places places = random_places(random, type.shape);
  const TensorType updates{type.dtype, places.windows};
  if (updates.elements() > 500) return false;
  const ValueId indices = builder.of_type({random.pick(kIndices), places.indices});
  const ValueId first = builder.of_type(updates);
  const ValueId second = builder.of_type({other, places.windows});
  const TensorType a{type.dtype, {}}, b{other, {}};
  const Graph region = region_of({a, b, a, b}, [](std::span<const Tensor> t) {
    return std::vector{maximum(t[0], t[2]), t[1] + t[3]};
  });
  return builder.add(kind.op, {x, y, indices, first, second}, scatter_attributes(places), {region});
}

constexpr std::array kKinds = {
    OpKind{"stablehlo.dynamic_slice", dynamic_slice, kAnyDType, Wants::kAnything, 12},
    OpKind{"stablehlo.dynamic_update_slice", dynamic_update_slice, kAnyDType, Wants::kAnything, 9},
    OpKind{"stablehlo.gather", gather, kAnyDType, Wants::kAnything, 13},
    OpKind{"stablehlo.scatter", scatter, kAnyDType, Wants::kAnything, 9},
    OpKind{"stablehlo.scatter", scatter_pair, kNumbers, Wants::kExact, 3},
};

}  // namespace

std::span<const OpKind> indexing_kinds() { return kKinds; }

}  // namespace superstep
