#pragma once

#include <optional>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/sliding_window.h"

namespace superstep {

/// Sums and products of floats depend on their order: those of short windows, and of all elements
/// up to each one where they are few, are taken element by element in row-major order from the
/// initial value, as XLA does on CPUs and StableHLO's interpreter anywhere. `start` has the initial
/// value for each window. None where the order makes no difference, or costs too much: sums of
/// parts are then nearer to the exact one.
[[nodiscard]] std::optional<Tensor> reduce_in_order(const Graph& region, Tensor input, Tensor start,
                                                    const std::vector<SlidingWindow>& windows);

}  // namespace superstep
