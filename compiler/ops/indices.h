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

/// The dimensions of a tensor that has so many: 0, 1, ….
[[nodiscard]] inline Indices all_dimensions(std::size_t rank) {
  Indices all;
  for (std::size_t i = 0; i < rank; ++i) all.push_back(static_cast<std::int64_t>(i));
  return all;
}

}  // namespace superstep
