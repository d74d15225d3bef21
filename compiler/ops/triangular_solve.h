#pragma once

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// Which equation is solved: op(A) X = B, or X op(A) = B.
struct TriangularSystem {
  bool is_left = true, is_lower = true, has_unit_diagonal = false;
  enum class Transpose : std::uint8_t { kNone, kTranspose, kAdjoint } transpose = Transpose::kNone;
};

/// X, from one triangle of A.
[[nodiscard]] Tensor triangular_solve(Tensor a, Tensor b, const TriangularSystem& system);

}  // namespace superstep
