#include "compiler/ops/table.h"

#include <algorithm>

namespace superstep {

std::vector<std::int64_t> Table::rest() const {
  std::vector<std::int64_t> rest;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    if (std::ranges::find(batching, d) == batching.end() &&
        std::ranges::find(indexed, d) == indexed.end()) {
      rest.push_back(d);
    }
  }
  return rest;
}

std::int64_t Table::elements_of(const std::vector<std::int64_t>& dimensions) const {
  std::int64_t n = 1;
  for (const std::int64_t d : dimensions) n *= shape[static_cast<std::size_t>(d)];
  return n;
}

Shape Table::windows(std::int64_t count, std::int64_t window) const {
  Shape result;
  for (const std::int64_t d : batching) result.push_back(shape[static_cast<std::size_t>(d)]);
  result.push_back(count);
  result.push_back(window);
  for (const std::int64_t d : rest()) result.push_back(shape[static_cast<std::size_t>(d)]);
  return result;
}

}  // namespace superstep
