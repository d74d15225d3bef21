#pragma once

#include <cstdint>

#include "compiler/graph/graph.h"

namespace superstep {

/// Whether a value says in integers where along a dimension its elements are.
[[nodiscard]] bool is_place(const Graph& graph, ValueId v, std::int64_t dimension);

}  // namespace superstep
