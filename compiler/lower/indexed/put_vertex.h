#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/vertex/put.h"

namespace superstep {

/// The vertex that combines as the region of a put, where a position has so many elements. For
/// windows whose elements all have known bits there are no runs.
[[nodiscard]] vertex::Put put_vertex(const Graph& region, std::int64_t position_elements,
                                     const std::vector<std::optional<std::uint64_t>>& windows = {});

/// How the workers of a tile share the offsets of a put with windows of so many positions.
[[nodiscard]] vertex::Put::Sharing sharing_of(const Op& op, std::int64_t window, bool has_lists);

}  // namespace superstep
