#include "compiler/ops/table.h"

namespace superstep {

Indices Table::rest() const {
  Indices rest;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    if (!contains(batching, d) && !contains(indexed, d)) rest.push_back(d);
  }
  return rest;
}

std::int64_t Table::elements_of(const Indices& dimensions) const {
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
