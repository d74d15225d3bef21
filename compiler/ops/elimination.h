#pragma once

#include <cstdint>
#include <functional>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// Rows of equal blocks in which matrices of so many rows are factored and solved; the last one may
/// be smaller. Within a block, column after column takes two supersteps; between blocks there are
/// products.
[[nodiscard]] std::int64_t block_size(std::int64_t rows);

// Matrices are batches of them: [batch, rows, columns].

/// With leading dimensions as one, which is there even where they are not.
[[nodiscard]] Tensor batched(Tensor x);

/// Rows and columns of each matrix from `row` and `column` on.
[[nodiscard]] Tensor block_of(Tensor x, std::int64_t row, std::int64_t rows, std::int64_t column,
                              std::int64_t columns);
[[nodiscard]] Tensor transposed(Tensor x);
[[nodiscard]] Tensor product(Tensor a, Tensor b);

/// Whether the number of a row is EQ, GE, … that of the column, of matrices of this shape.
[[nodiscard]] Tensor where_row_is(const char* direction, Tensor like);
/// [batch, rows].
[[nodiscard]] Tensor diagonal_of(Tensor x);
/// Each row times or by its element of [batch, rows], as matrices of so many columns.
[[nodiscard]] Tensor along_rows(Tensor rows, std::int64_t columns);

/// Gaussian elimination without pivoting of Hermitian positive definite matrices, or of triangular
/// ones with ones on the diagonal, A = L D U with ones on the diagonals of L and U: D U on and
/// above the diagonal, the inverse of L, times D, below it.
[[nodiscard]] Tensor eliminated(Tensor a);

/// The inverse of L, of what `eliminated` gives.
[[nodiscard]] Tensor inverse_of_lower(Tensor eliminated);

/// X of op(X) = B by a product with an inverse, `solve`, which alone is off by as much as the
/// condition of op makes of a rounding; then once more by what is left, which is as good as
/// substitution.
[[nodiscard]] Tensor solved_twice(Tensor b, const std::function<Tensor(Tensor)>& solve,
                                  const std::function<Tensor(Tensor)>& op);

}  // namespace superstep
