#include "compiler/lower/merge_by_columns.h"

#include <vector>

#include "compiler/ops/indices.h"
#include "compiler/ops/merge.h"

namespace superstep {
namespace {

/// Element `i` of a dimension, which the result does not have.
Tensor part(Tensor x, std::size_t dimension, std::int64_t i) {
  Indices start(x.shape().size());
  Shape sizes = x.shape();
  start[dimension] = i;
  sizes[dimension] = 1;
  const Tensor one = window(x, start, sizes);
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dimension));
  return reshape(one, sizes);
}

/// Both along a new dimension.
Tensor both(Tensor a, Tensor b, std::size_t dimension) {
  Shape shape = a.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension), 1);
  return concatenate(std::vector{reshape(a, shape), reshape(b, shape)},
                     static_cast<std::int64_t>(dimension));
}

}  // namespace

Tensor merged(Tensor keys, const Shape& shape, bool alternates) {
  Op op;
  op.attributes = {{"alternates", alternates}};
  return keys.builder->apply(kMergeOp, {reshape(keys, shape)}, std::move(op));
}

Tensor merged_by_columns(Tensor keys, std::int64_t columns, bool alternates) {
  const Shape shape = keys.shape();
  const std::int64_t rows = shape[0], words = shape[2], lines = shape[1] / columns;
  const std::int64_t pairs = lines / 4;  // of an even one and an odd one

  const Tensor halves = reshape(keys, {rows, 2, lines / 2, columns, words});
  const Tensor table = both(part(halves, 1, 0), reverse(part(halves, 1, 1), {2}), 1);
  const Tensor in_columns = transpose(reshape(table, {rows, lines, columns, words}), {0, 2, 1, 3});
  const Tensor sorted = merged(in_columns, {rows * columns, lines, words}, false);

  const Tensor in_lines = transpose(reshape(sorted, {rows, columns, lines, words}), {0, 2, 1, 3});
  const Tensor by_two = reshape(in_lines, {rows * lines / 2, 2, columns, words});
  const Tensor opposed = both(part(by_two, 1, 0), reverse(part(by_two, 1, 1), {1}), 1);
  const Tensor neighbours = reshape(merged(opposed, {rows * lines / 2, 2 * columns, words}, true),
                                    {rows, pairs, 2, 2, columns, words});

  // An even pair ascends, an odd one descends. The first line of all and the last are in place:
  // together they are one more pair.
  const Tensor even = part(neighbours, 2, 0), odd = part(neighbours, 2, 1);
  const Tensor inner = both(part(even, 2, 1), part(odd, 2, 1), 2);
  const Tensor lower = part(even, 2, 0);
  const Shape one{rows, 1, columns, words}, others{rows, pairs - 1, columns, words};
  const Tensor next = concatenate(
      std::vector{window(lower, {0, 1, 0, 0}, others), window(lower, {0, 0, 0, 0}, one)}, 1);
  const Tensor outer = both(next, part(odd, 2, 0), 2);
  // Rows last, so that every other result descends where every other row does.
  const Tensor between = transpose(both(inner, outer, 2), {1, 2, 0, 3, 4, 5});
  const Tensor done = reshape(merged(between, {2 * pairs * rows, 2 * columns, words}, alternates),
                              {2 * pairs, rows, 2 * columns, words});

  const std::int64_t whole = 2 * pairs - 1;
  Tensor middle =
      transpose(window(done, {0, 0, 0, 0}, {whole, rows, 2 * columns, words}), {1, 0, 2, 3});
  if (alternates) {
    const Tensor by_turns = reshape(middle, {rows / 2, 2, whole, 2 * columns, words});
    middle = both(part(by_turns, 1, 0), reverse(part(by_turns, 1, 1), {1}), 1);
  }
  const Tensor ends = part(done, 0, whole);
  return concatenate(std::vector{window(ends, {0, 0, 0}, {rows, columns, words}),
                                 reshape(middle, {rows, whole * 2 * columns, words}),
                                 window(ends, {0, columns, 0}, {rows, columns, words})},
                     1);
}

}  // namespace superstep
