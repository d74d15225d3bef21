#pragma once

#include "compiler/ops/graph_builder.h"

namespace superstep {

// Matrices are batches of them, [batch, rows, columns], and are kept as their transposes here, so
// that a column is a row. Reflector k is H = I - tau v v^H, where v is 0 above element k, 1 there,
// and below it what column k of `packed` has below its diagonal, as LAPACK keeps them.

struct Reflectors {
  Tensor packed;  ///< [batch, columns, rows]; the triangle of R on and above the diagonal
  Tensor taus;    ///< [batch, reflectors]
};

/// A = H0 H1 ... R: the diagonal of R is real and has the signs that LAPACK gives it.
[[nodiscard]] Reflectors householder_factors(Tensor transposed);

/// Of the columns of A in another order: those whose element of `first` ([batch, columns]) is not
/// 0, then, each time, the one that has most left.
struct PivotedReflectors {
  Reflectors reflectors;
  Tensor order;  ///< i32 [batch, columns]: numbers of columns of A, from 1
};
[[nodiscard]] PivotedReflectors pivoted_factors(Tensor transposed, Tensor first);

/// A = Q H Q^H of square matrices, Q = H0 H1 ..., with nothing below the first subdiagonal of H.
/// Reflector k is 0 above element k + 1, and is kept below the subdiagonal.
[[nodiscard]] Reflectors hessenberg_factors(Tensor transposed);

/// H = Q^H A Q as by `hessenberg_factors`, zero below the first subdiagonal, and Z Q of a Z.
struct Hessenberg {
  Tensor h, z;
};
[[nodiscard]] Hessenberg hessenberg(Tensor a, Tensor z);

/// The same of H0^H A H0 and Z H0, where the reflector H0 leaves of x ([batch, n], 0 in front of
/// element `first`, [batch]) that element only.
[[nodiscard]] Hessenberg hessenberg_behind(Tensor x, Tensor first, Tensor a, Tensor z);

/// (H0 H1 ... C)^T of C^T, or of the adjoint product.
[[nodiscard]] Tensor reflected(const Reflectors& reflectors, Tensor transposed, bool adjoint);

}  // namespace superstep
