#pragma once

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// A / scale = Z T Z^H of [batch, n, n] with a triangular T; of a real A, T has blocks of two rows
/// for pairs of eigenvalues.
struct Schur {
  Tensor t, z;
  Tensor scale;       ///< [batch]: the power of two of A's largest element
  Tensor unfinished;  ///< i32 [batch]: 0, or a row of T that is not done, from 1
};
[[nodiscard]] Schur schur(Tensor a);

/// Likewise of A / scale.
struct Triangular {
  Tensor t, z;             ///< complex
  Tensor real, imaginary;  ///< [batch, n]: the eigenvalues; pairs are conjugates to the bit
};
[[nodiscard]] Triangular triangular(const Schur& schur);

/// Vectors as columns, of length 1, whose largest element is real; those of a pair are conjugates.
[[nodiscard]] Tensor eigenvectors(const Triangular& triangular, bool has_pairs);

/// Likewise of columns u with u^H A = value u^H.
[[nodiscard]] Tensor left_eigenvectors(const Triangular& triangular, bool has_pairs);

/// The form of a real A / scale whose blocks of two rows are those of pairs of eigenvalues, with
/// equal elements on the diagonal, as LAPACK has it; `real` and `imaginary` are the eigenvalues.
struct RealSchur {
  Tensor t, z, real, imaginary;
};
[[nodiscard]] RealSchur standardised(const Schur& schur);

}  // namespace superstep
