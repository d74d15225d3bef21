#include "compiler/ops/selection.h"

#include <span>
#include <vector>

#include "compiler/ops/elements.h"
#include "compiler/ops/indices.h"

namespace superstep {

Tensor last_key(GraphBuilder& builder, DType dtype) {
  HostTensor last(TensorType{dtype, {}});
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  write_bits(last, 0, is_signed(dtype) ? sign - 1 : sign | (sign - 1));
  return builder.constant(std::move(last));
}

Tensor least(Tensor x, Tensor none) {
  return reduce(x, none, {std::ssize(x.shape()) - 1},
                [](Tensor a, Tensor b) { return minimum(a, b); });
}

Candidates least_one_by_one(const Candidates& all, std::int64_t count) {
  GraphBuilder& builder = *all.keys.builder;
  const Shape shape = all.keys.shape();
  const Indices batches = all_dimensions(shape.size() - 1);
  const auto last = static_cast<std::int64_t>(batches.size());
  Shape found = shape;
  found.back() = count;
  const auto none = static_cast<double>(all.places_end);
  const DType dtype = all.keys.dtype();
  // As floats, which vertices take in pairs, places are exact up to here.
  constexpr double kMostInFloats = std::int64_t{1} << 24;
  const DType place_dtype = none < kMostInFloats ? DType::kF32 : DType::kI32;
  const std::vector<Tensor> begin = {all.keys, convert(all.places, place_dtype),
                                     broadcast(last_key(builder, dtype), found, {}),
                                     broadcast(builder.number(place_dtype, 0), found, {})};
  // What is taken is the last and has no place any more.
  const auto step = [&](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
    const Tensor key = values[0], place = values[1];
    GraphBuilder& inner = *turn.builder;
    const Tensor first = least(key, last_key(inner, dtype));
    const Tensor is_first = compare("EQ", key, broadcast(first, shape, batches));
    const Tensor at =
        least(select(is_first, place, place.like(none)), inner.number(place_dtype, none));
    const Tensor is_taken = compare("EQ", place, broadcast(at, shape, batches));
    const Tensor is_turn =
        compare("EQ", inner.iota({DType::kI32, found}, last), broadcast(turn, found, {}));
    return {select(is_taken, broadcast(last_key(inner, dtype), shape, {}), key),
            select(is_taken, place.like(none), place),
            select(is_turn, broadcast(first, found, batches), values[2]),
            select(is_turn, broadcast(at, found, batches), values[3])};
  };
  const std::vector<Tensor> results = repeat_counted(count, begin, step);
  return {results[2], convert(results[3], DType::kI32), all.places_end};
}

}  // namespace superstep
