#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace superstep {

/// How a tensor is indexed at run time. The dimensions that are neither `batching` nor `indexed`
/// are its rest.
struct Table {
  Shape shape;
  std::vector<std::int64_t> batching;  ///< ascending; each batch has offsets of its own
  std::vector<std::int64_t> indexed;   ///< ascending
  auto operator<=>(const Table&) const = default;

  [[nodiscard]] std::vector<std::int64_t> rest() const;
  /// Elements of these dimensions.
  [[nodiscard]] std::int64_t elements_of(const std::vector<std::int64_t>& dimensions) const;
  [[nodiscard]] std::int64_t batches() const { return elements_of(batching); }
  /// Places that an offset may name: row-major numbers of the indexed dimensions.
  [[nodiscard]] std::int64_t positions() const { return elements_of(indexed); }
  [[nodiscard]] std::int64_t width() const { return elements_of(rest()); }
  /// Sizes of the batching dimensions, `count`, `window`, sizes of the rest.
  [[nodiscard]] Shape windows(std::int64_t count, std::int64_t window) const;
};

/// A table, or windows of it, as somebody uses it.
struct TableUse {
  Table table;
  Shape windows = {};  ///< their shape; empty for the table itself
};

}  // namespace superstep
