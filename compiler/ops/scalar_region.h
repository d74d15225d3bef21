#pragma once

#include <span>
#include <vector>

#include "compiler/ops/op.h"

namespace superstep {

/// Checks the only region of an op, which combines scalars of `types`: it takes one of each, then
/// another one of each, and returns one of each; it holds elementwise ops and constants. Throws
/// MalformedInput or Unsupported.
void check_scalar_region(const Op& op, std::span<const TensorType> types);

/// Runs a region over scalars for all elements of its arguments at once.
[[nodiscard]] std::vector<HostTensor> evaluate_scalar_region(const Graph& region,
                                                             std::vector<HostTensor> arguments);

}  // namespace superstep
