#pragma once

#include <span>
#include <vector>

#include "compiler/ops/comparator.h"
#include "compiler/ops/graph_builder.h"

namespace superstep {

/// The rows of tensors of one shape along a dimension, in the order of a comparator; rows of which
/// neither goes in front stay in their order.
[[nodiscard]] std::vector<Tensor> sorted(std::span<const Tensor> operands, std::size_t dimension,
                                         const Comparator& comparator);

}  // namespace superstep
