#pragma once

#include <utility>

#include "compiler/ops/library/function.h"

namespace superstep {

/// T and Z of A = Z T Z^H with a triangular T; NaN where an element of A is not finite.
[[nodiscard]] std::pair<HostMatrix, HostMatrix> host_schur(const HostMatrix& a);

}  // namespace superstep
