#pragma once

#include "compiler/ops/graph_builder.h"

namespace superstep {

// Jacobi's rotations in rounds of n / 2 pairs that do not meet (Brent and Luk): after n - 1 rounds
// every row has met every other one, and all are where they were. Matrices are [batch, n, n].

struct Eigen {
  Tensor values;           ///< [batch, n], real, ascending if sorted
  Tensor adjoint_vectors;  ///< [batch, n, n]: row i is the adjoint of vector i
};
/// Of Hermitian matrices, both triangles of which are there.
[[nodiscard]] Eigen eigen(Tensor a, bool sorts);

struct SingularValues {
  Tensor values;  ///< [batch, n], real, descending
  /// [batch, n, n], as transposes: row i is left vector i times value i.
  Tensor scaled_left;
  /// Row i is right vector i; all are orthogonal, also those of values that are 0.
  Tensor right;
};
/// Of X = U S V^H, given as its transpose.
[[nodiscard]] SingularValues singular_values(Tensor transposed);
/// The values alone.
[[nodiscard]] Tensor only_singular_values(Tensor transposed);

}  // namespace superstep
