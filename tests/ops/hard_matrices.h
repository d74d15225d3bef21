#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/ops/library/function.h"

namespace superstep {

/// A matrix whose factors are hard to compute, rounded to f32.
struct HardMatrix {
  std::string name;
  HostMatrix matrix;
};

// Square ones, by the formulas of lapack_errors.py.

[[nodiscard]] std::vector<HardMatrix> hard_matrices(std::size_t n);
[[nodiscard]] std::vector<HardMatrix> hard_symmetric_matrices(std::size_t n);
[[nodiscard]] std::vector<HardMatrix> hard_positive_matrices(std::size_t n);
/// Lower triangular ones.
[[nodiscard]] std::vector<HardMatrix> hard_triangular_matrices(std::size_t n);

/// Two columns for the right-hand sides of equations.
[[nodiscard]] HostMatrix sides_of_equations(std::size_t n);

/// As one tensor of f32, [matrices, rows, columns].
[[nodiscard]] HostTensor as_tensor(const std::vector<HardMatrix>& matrices);

}  // namespace superstep
