#pragma once

#include <string>
#include <vector>

#include "compiler/ops/library/function.h"
#include "tests/ops/op_case.h"

namespace superstep {

// Matrices on the host in double, to check factors with.

[[nodiscard]] HostMatrix times(const HostMatrix& a, const HostMatrix& b);
[[nodiscard]] HostMatrix identity(std::size_t n);
/// The root of the sum of squares of what two matrices differ by.
[[nodiscard]] double distance(const HostMatrix& a, const HostMatrix& b);
[[nodiscard]] double size_of(const HostMatrix& a);
/// How far the columns are from orthonormal ones.
[[nodiscard]] double error_of_orthogonality(const HostMatrix& q);
/// U times the values, of the matrix of this number, times V^H.
[[nodiscard]] HostMatrix combined(const HostMatrix& u, const HostTensor& values, std::size_t number,
                                  const HostMatrix& vh);

/// A custom call with results of these types.
[[nodiscard]] OpCase library_call(const std::string& name, const std::string& config,
                                  std::vector<HostTensor> operands,
                                  std::vector<TensorType> declared);

}  // namespace superstep
