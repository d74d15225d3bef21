#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ops/indices.h"
#include "compiler/ops/op.h"

namespace superstep {

/// How windows slide along one dimension.
struct SlidingWindow {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t low = 0, high = 0;    ///< padding at both ends; negative: elements less
  std::int64_t base_dilation = 1;    ///< from one element of the tensor to the next
  std::int64_t window_dilation = 1;  ///< from one place of the window to the next

  /// Positions that a window spans.
  [[nodiscard]] std::int64_t span() const {
    return size == 0 ? 0 : (size - 1) * window_dilation + 1;
  }
  /// Positions of a dimension of `elements`, with gaps and padding.
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const {
    return low + (elements == 0 ? 0 : (elements - 1) * base_dilation + 1) + high;
  }
  /// Windows in a dimension of `elements`.
  [[nodiscard]] std::int64_t count(std::int64_t elements) const {
    const std::int64_t positions = padded(elements);
    return positions <= 0 || span() > positions ? 0 : (positions - span()) / stride + 1;
  }
  /// The element at a place of a window, where there is one.
  [[nodiscard]] std::optional<std::int64_t> element(std::int64_t window, std::int64_t place,
                                                    std::int64_t elements) const {
    const std::int64_t at = window * stride + place * window_dilation - low;
    if (at < 0 || at % base_dilation != 0 || at / base_dilation >= elements) return std::nullopt;
    return at / base_dilation;
  }
  /// Whether some positions are no elements.
  [[nodiscard]] bool has_gaps() const { return low > 0 || high > 0 || base_dilation > 1; }
};

/// Attributes that describe sliding windows, one entry a dimension (two of the padding); all may be
/// absent.
struct SlidingWindowNames {
  std::string_view strides, padding, base_dilations, window_dilations;
};

/// The windows of an op that has one of each of `sizes` in dimensions of `shape`. Throws
/// MalformedInput.
[[nodiscard]] std::vector<SlidingWindow> sliding_windows(const Op& op, const Shape& sizes,
                                                         const Shape& shape,
                                                         const SlidingWindowNames& names);

/// By dimension, the windows in a tensor.
[[nodiscard]] Shape window_counts(const std::vector<SlidingWindow>& windows, const Shape& shape);

/// Takes away the places at which no window in a tensor has an element, which may be all.
void trim(std::vector<SlidingWindow>& windows, const Shape& shape);
[[nodiscard]] bool have_no_places(const std::vector<SlidingWindow>& windows);

}  // namespace superstep
