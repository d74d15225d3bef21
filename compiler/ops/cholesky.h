#pragma once

#include <cstdint>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// The factor, zero in the other triangle, and the pivots: [batch, rows], real. Where one of these
/// is not above 0, the matrix is not positive definite.
struct CholeskyFactor {
  Tensor factor, pivots;
};

/// L of A = L L^H, or U of U^H U, from one triangle of A.
[[nodiscard]] CholeskyFactor cholesky(Tensor a, bool lower);

/// Of the matrix at element `first` of a tensor: the number of the first pivot that is not above 0,
/// from 1; 0 where there is none.
[[nodiscard]] std::int64_t first_unfit_pivot(const HostTensor& a, std::size_t first, bool lower);

}  // namespace superstep
