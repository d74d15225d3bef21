#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/table.h"

namespace superstep {

/// Equal windows of a tensor, and how the native forms (`compiler/ops/take.h`) have them: a window
/// of several indexed dimensions becomes windows along the last of these.
class Windows {
 public:
  /// `sizes` by dimension, 1 for those of `batching`.
  Windows(const Shape& shape, Shape sizes, Indices batching);

  /// Dimensions of which a window has a part are indexed.
  [[nodiscard]] const Table& table() const { return table_; }
  [[nodiscard]] std::int64_t window() const;
  /// The greatest start index of a dimension.
  [[nodiscard]] std::int64_t last_start(std::int64_t dimension) const;
  /// The dimensions of windows in the order of the native forms.
  [[nodiscard]] Indices order() const;
  [[nodiscard]] std::int64_t size(std::int64_t dimension) const {
    return sizes_[static_cast<std::size_t>(dimension)];
  }

  /// The offsets of windows whose start indices, i32 of [batching..., count] and by dimension, are
  /// in range; `where` holds for those that count, if it is given.
  [[nodiscard]] Tensor offsets(GraphBuilder& builder, const Shape& places,
                               const std::map<std::int64_t, Tensor>& starts,
                               const Tensor* where = nullptr) const;
  /// The native form of `x`, whose dimensions are `names`: those of the tensor by number, and any
  /// others, which come first and in order.
  [[nodiscard]] Tensor to_native(Tensor x, const Indices& names, const Indices& others) const;
  /// The other way; `others` with their sizes.
  [[nodiscard]] Tensor from_native(Tensor x,
                                   const std::vector<std::pair<std::int64_t, std::int64_t>>& others,
                                   const Indices& names) const;

 private:
  /// Indexed dimensions whose windows are cut.
  [[nodiscard]] Indices unrolled() const;
  /// One for each window along the last indexed dimension.
  [[nodiscard]] Tensor unrolled(Tensor x) const;

  Table table_;
  Shape sizes_;
};

/// Start indices as i32 between 0 and `last`, the nearest in range.
[[nodiscard]] Tensor clamped_start(Tensor start, std::int64_t last);
/// Whether start indices are between 0 and `last`.
[[nodiscard]] Tensor is_start(Tensor start, std::int64_t last);

}  // namespace superstep
