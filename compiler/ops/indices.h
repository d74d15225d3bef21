#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace superstep {

/// Dimensions of a tensor, or an index along each of them.
using Indices = std::vector<std::int64_t>;

[[nodiscard]] inline bool contains(const Indices& list, std::int64_t n) {
  return std::ranges::find(list, n) != list.end();
}

}  // namespace superstep
