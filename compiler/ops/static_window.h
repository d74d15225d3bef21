#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// A value that is a constant of the graph.
[[nodiscard]] std::optional<HostTensor> constant_value(const Graph& graph, ValueId value);
[[nodiscard]] bool are_constant(const Graph& graph, std::span<const ValueId> values);

/// The elements of a box of `x`.
[[nodiscard]] Tensor window(Tensor x, const std::vector<std::int64_t>& start, const Shape& sizes);
/// `x` with the elements of a box replaced.
[[nodiscard]] Tensor with_window(Tensor x, const std::vector<std::int64_t>& start, Tensor window);

}  // namespace superstep
