#pragma once

#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/sliding_window.h"

namespace superstep {

/// Elements of sliding windows of tensors alike, combined by a region in the order of places, from
/// the initial values; what is padding or between elements takes no part. Neighbours combine first,
/// as the region is associative. The work grows with the logarithm of a window's size along each
/// dimension.
[[nodiscard]] std::vector<Tensor> reduce_windows(const Graph& region,
                                                 std::span<const Tensor> inputs,
                                                 std::span<const Tensor> initial,
                                                 std::vector<SlidingWindow> windows);

}  // namespace superstep
