#include "compiler/ops/elimination.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace superstep {
namespace {

/// Up to so many rows are one block [chosen among 16, 32 and 64 by the cycles of 64 and 256 rows on
/// bow, small64 and tiny4: 32 saves 2 and 8 % of a factor on the first two, 16 saves 17 to 40 % of
/// it on the last, and 20 to 60 % of the time to solve for one vector on all].
constexpr std::int64_t kFewRows = 16;
/// Each block has code of its own [assumed: of so many it is still a small part of a tile's
/// memory].
constexpr std::int64_t kMostBlocks = 16;

/// Row i of each square matrix turned right by i, as a rearrangement: rows twice in a row, read at
/// a pitch that is one less.
Tensor turned(Tensor x) {
  const std::int64_t batch = x.shape()[0], n = x.shape()[1];
  const std::vector<Tensor> twice = {x, x};
  const Tensor row = reshape(concatenate(twice, 2), {batch, 1, 2 * n * n});
  const Tensor pitched = reshape(block_of(row, 0, 1, n, (2 * n - 1) * n), {batch, n, 2 * n - 1});
  return block_of(pitched, 0, n, 0, n);
}

/// With the first row (dimension 1) or column (2) behind the last one.
Tensor rotated(Tensor x, std::int64_t dimension) {
  const std::int64_t rows = x.shape()[1], columns = x.shape()[2];
  const bool by_rows = dimension == 1;
  const Tensor first = by_rows ? block_of(x, 0, 1, 0, columns) : block_of(x, 0, rows, 0, 1);
  const Tensor others =
      by_rows ? block_of(x, 1, rows - 1, 0, columns) : block_of(x, 0, rows, 1, columns - 1);
  const std::vector<Tensor> parts = {others, first};
  return concatenate(parts, dimension);
}

}  // namespace

std::int64_t block_size(std::int64_t rows) {
  const std::int64_t blocks =
      std::clamp((rows + kFewRows - 1) / kFewRows, std::int64_t{1}, kMostBlocks);
  return (rows + blocks - 1) / blocks;
}

Tensor batched(Tensor x) {
  const Shape shape = x.shape();
  Shape leading(shape.begin(), shape.end() - 2);
  const std::int64_t batch = TensorType{{}, leading}.elements();
  return reshape(x, {batch, shape[shape.size() - 2], shape.back()});
}

Tensor block_of(Tensor x, std::int64_t row, std::int64_t rows, std::int64_t column,
                std::int64_t columns) {
  return window(x, {0, row, column}, {x.shape()[0], rows, columns});
}

Tensor transposed(Tensor x) { return transpose(x, {0, 2, 1}); }

Tensor product(Tensor a, Tensor b) { return dot_general(a, b, {{0}, {0}, {2}, {1}}, a.dtype()); }

Tensor where_row_is(const char* direction, Tensor like) {
  const TensorType type{DType::kI32, like.shape()};
  return compare(direction, like.builder->iota(type, 1), like.builder->iota(type, 2));
}

Tensor diagonal_of(Tensor x) {
  const std::int64_t batch = x.shape()[0], n = x.shape()[1];
  const Tensor flat = reshape(x, {batch, n * n});
  return slice(flat, {0, 0}, {batch, n * n}, {1, n + 1});
}

Tensor along_rows(Tensor rows, std::int64_t columns) {
  return broadcast(rows, {rows.shape()[0], rows.shape()[1], columns}, {0, 1});
}

// In each turn the first row eliminates the first column, and rows and columns rotate, so that
// nothing depends on the number of the turn. Row and column lose their product divided by the root
// of the pivot each, so that Hermitian matrices stay so to the bit: what a column removes is what
// is in the row of the factor. The column that has come last is free: less twice itself it is the
// negative of the eliminated one, which is what the inverse of L has there, times the pivot. Rows
// that are done come behind the others, where nothing reads them: they are collected, and are
// turned back at last.
Tensor eliminated(Tensor a) {
  const std::int64_t batch = a.shape()[0], n = a.shape()[1];
  if (n == 1) return a;
  const std::vector<Tensor> start = {a, a.like(0)};
  const std::vector<Tensor> end =
      repeat(n, start, [&](std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor rest = values[0], done = values[1];
        const Tensor pivot_row = block_of(rest, 0, 1, 0, n);
        const Tensor row = rotated(pivot_row, 2), column = rotated(block_of(rest, 0, n, 0, 1), 1);
        const Tensor root = sqrt(block_of(rest, 0, 1, 0, 1));
        const auto spread = [&](Tensor x, Tensor like) {
          return broadcast(x, like.shape(), {0, 1, 2});
        };
        const Tensor number = rest.builder->iota({DType::kI32, row.shape()}, 2);
        const Tensor divided = select(number == static_cast<double>(n - 1),
                                      spread(root + root, row), row / spread(root, row));
        const Tensor removed = spread(column / spread(root, column), a) * spread(divided, a);
        const std::vector<Tensor> rows = {block_of(done, 1, n - 1, 0, n), pivot_row};
        return {rotated(rotated(rest, 1), 2) - removed, concatenate(rows, 1)};
      });
  return turned(reshape(end[1], {batch, n, n}));
}

Tensor inverse_of_lower(Tensor eliminated) {
  const std::int64_t columns = eliminated.shape()[2];
  const Tensor pivots = transposed(along_rows(diagonal_of(eliminated), columns));
  const Tensor zero = eliminated.like(0), one = eliminated.like(1);
  return select(where_row_is("GT", eliminated), eliminated / pivots,
                select(where_row_is("EQ", eliminated), one, zero));
}

Tensor solved_twice(Tensor b, const std::function<Tensor(Tensor)>& solve,
                    const std::function<Tensor(Tensor)>& op) {
  const Tensor x = solve(b), more = solve(b - op(x));
  // Where X is infinite, there is nothing to be added.
  return select(abs(more) < std::numeric_limits<double>::infinity(), x + more, x);
}

}  // namespace superstep
