#pragma once

#include "compiler/ops/graph_builder.h"

namespace superstep {

// What factors of matrices have in common: batches of rows, real parts, columns of a loop's turn.

[[nodiscard]] Tensor real_part(Tensor x);
/// Zero for real numbers.
[[nodiscard]] Tensor imaginary_part(Tensor x);
/// A real tensor as numbers of the dtype.
[[nodiscard]] Tensor with_dtype(Tensor real, DType dtype);
/// Of the parts, or of the real one only where the dtype is real.
[[nodiscard]] Tensor of_parts(Tensor real, Tensor imaginary, DType dtype);
/// |x|^2, real.
[[nodiscard]] Tensor square_of_size(Tensor x);

/// Numbers of the indices along a dimension, i32.
[[nodiscard]] Tensor indices_along(Tensor like, std::int64_t dimension);
/// Whether they are EQ, GT, … a scalar.
[[nodiscard]] Tensor where_index_is(const char* direction, Tensor scalar, Tensor like,
                                    std::int64_t dimension);
/// Row `row`, a scalar, of each of [batch, rows, columns]: [batch, columns].
[[nodiscard]] Tensor row_at(Tensor x, Tensor row);
/// With that row replaced by [batch, columns].
[[nodiscard]] Tensor with_row(Tensor x, Tensor row, Tensor values);
/// Numbers of each batch along the other dimensions of `like`; the dimensions of `x` are these
/// ones.
[[nodiscard]] Tensor spread(Tensor x, Tensor like, std::vector<std::int64_t> dimensions);
/// The largest element along a dimension, from 0.
[[nodiscard]] Tensor largest(Tensor x, std::int64_t dimension);
/// The power of two of the largest element of each matrix, [batch], by which all are divided
/// without an error, so that squares are in range; NaN where an element is not finite.
[[nodiscard]] Tensor scale_of(Tensor x);
[[nodiscard]] Tensor divided_by_scale(Tensor x, Tensor scale);
[[nodiscard]] Tensor times_scale(Tensor x, Tensor scale);
/// Ones on the diagonals.
[[nodiscard]] Tensor identity(GraphBuilder& builder, DType dtype, std::int64_t batch,
                              std::int64_t rows, std::int64_t columns);

}  // namespace superstep
