#include "compiler/ops/elimination.h"

#include <vector>

namespace superstep {
namespace {

/// Row i of each square matrix turned right by i, as a rearrangement: rows twice in a row, read at
/// a pitch that is one less.
Tensor turned(Tensor x) {
  const std::int64_t batch = x.shape()[0], n = x.shape()[1];
  const std::vector<Tensor> twice = {x, x};
  const Tensor row = reshape(concatenate(twice, 2), {batch, 1, 2 * n * n});
  const Tensor pitched = reshape(block_of(row, 0, 1, n, (2 * n - 1) * n), {batch, n, 2 * n - 1});
  return block_of(pitched, 0, n, 0, n);
}

/// `x` without its first row, or column, and with zeros behind the last.
Tensor moved_up(Tensor x, bool rows, bool columns) {
  const Shape& shape = x.shape();
  const std::int64_t r = rows ? 1 : 0, c = columns ? 1 : 0;
  return pad(block_of(x, r, shape[1] - r, c, shape[2] - c), x.builder->number(x.dtype(), 0),
             {0, 0, 0}, {0, r, c}, {0, 0, 0});
}

}  // namespace

std::int64_t block_size(std::int64_t rows) {
  const std::int64_t blocks = (rows + kEliminationBlock - 1) / kEliminationBlock;
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
  const Shape shape = x.shape();
  if (rows == shape[1] && columns == shape[2]) return x;
  return slice(x, {0, row, column}, {shape[0], row + rows, column + columns}, {1, 1, 1});
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

// In each turn the first row eliminates the first column, and everything moves up and to the left,
// so that nothing depends on the number of the turn. The column that is free then holds the
// multipliers, which is what the inverse of L has there. Rows that are done are collected, and are
// turned back at last.
Tensor eliminated(Tensor a) {
  const std::int64_t batch = a.shape()[0], n = a.shape()[1];
  if (n == 1) return a;
  const std::vector<Tensor> start = {a, a.like(0)};
  const std::vector<Tensor> end =
      repeat(n, start, [&](std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor rest = values[0], done = values[1];
        const Tensor pivot_row = block_of(rest, 0, 1, 0, n);
        const Tensor pivot = block_of(rest, 0, 1, 0, 1);
        const std::vector<Tensor> row = {block_of(rest, 0, 1, 1, n - 1), pivot.like(1)};
        const Tensor column = moved_up(block_of(rest, 0, n, 0, 1), true, false);
        const Tensor multipliers = column / broadcast(pivot, column.shape(), {0, 1, 2});
        const Tensor removed = broadcast(multipliers, a.shape(), {0, 1, 2}) *
                               broadcast(concatenate(row, 2), a.shape(), {0, 1, 2});
        const std::vector<Tensor> rows = {block_of(done, 1, n - 1, 0, n), pivot_row};
        return {moved_up(rest, true, true) - removed, concatenate(rows, 1)};
      });
  return turned(reshape(end[1], {batch, n, n}));
}

Tensor inverse_of_lower(Tensor eliminated) {
  const Tensor zero = eliminated.like(0), one = eliminated.like(1);
  return select(where_row_is("GT", eliminated), eliminated,
                select(where_row_is("EQ", eliminated), one, zero));
}

}  // namespace superstep
