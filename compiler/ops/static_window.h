#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"

namespace superstep {

/// `{x, window}` to `x` with the elements of a box replaced.
extern const OpDefinition kReplaceWindowOp;

/// `x` with the elements of a box replaced.
[[nodiscard]] Tensor with_window(Tensor x, const std::vector<std::int64_t>& start, Tensor window);

}  // namespace superstep
