#pragma once

#include "compiler/graph/graph.h"
#include "compiler/vertex/put.h"

namespace superstep {

/// The vertex that combines as the region of a put, where a position has so many elements.
[[nodiscard]] vertex::Put put_vertex(const Graph& region, std::int64_t position_elements);

}  // namespace superstep
