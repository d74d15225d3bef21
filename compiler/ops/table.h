#pragma once

#include <compare>
#include <cstdint>

#include "base/dtype.h"
#include "compiler/ops/indices.h"

namespace superstep {

/// How a tensor is indexed at run time. The dimensions that are neither `batching` nor `indexed`
/// are its rest.
struct Table {
  Shape shape;
  Indices batching;  ///< ascending; each batch has offsets of its own
  Indices indexed;   ///< ascending
  auto operator<=>(const Table&) const = default;

  [[nodiscard]] Indices rest() const;
  /// Elements of these dimensions.
  [[nodiscard]] std::int64_t elements_of(const Indices& dimensions) const;
  [[nodiscard]] std::int64_t batches() const { return elements_of(batching); }
  /// Places that an offset may name: row-major numbers of the indexed dimensions.
  [[nodiscard]] std::int64_t positions() const { return elements_of(indexed); }
  [[nodiscard]] std::int64_t width() const { return elements_of(rest()); }
  /// Sizes of the batching dimensions, `count`, `window`, sizes of the rest.
  [[nodiscard]] Shape windows(std::int64_t count, std::int64_t window) const;
};

/// A table as somebody uses it: `count` windows of `window` positions are taken from each batch or
/// put there.
struct TableUse {
  Table table;
  std::int64_t count = 1, window = 1;

  [[nodiscard]] Shape windows() const { return table.windows(count, window); }
  /// Elements of the windows for each element of the table's rest.
  [[nodiscard]] std::int64_t positions() const { return count * window; }
};

}  // namespace superstep
