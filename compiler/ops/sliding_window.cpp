#include "compiler/ops/sliding_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compiler/ops/verify.h"

namespace superstep {
namespace {

// As long as any dimension is: sums and products of two such amounts stay far from overflow.
constexpr std::int64_t kMaxAmount = std::int64_t{1} << 30;

/// A list of `count` amounts of at least `least`; `otherwise` of each when it is absent.
Indices amounts(const Op& op, std::string_view name, std::size_t count, std::int64_t least,
                std::int64_t otherwise) {
  if (name.empty() || !op.attributes.contains(name)) return Indices(count, otherwise);
  const Indices& list = index_list(op, name, count);
  for (const std::int64_t amount : list) {
    if (amount >= least && amount <= kMaxAmount) continue;
    malformed(op, fmt::format("{} has {}, expected {} to {}", name, amount, least, kMaxAmount));
  }
  return list;
}

}  // namespace

std::vector<SlidingWindow> sliding_windows(const Op& op, const Shape& sizes, const Shape& shape,
                                           const SlidingWindowNames& names) {
  const std::size_t rank = shape.size();
  const Indices strides = amounts(op, names.strides, rank, 1, 1);
  const Indices padding = amounts(op, names.padding, 2 * rank, -kMaxAmount, 0);
  const Indices base = amounts(op, names.base_dilations, rank, 1, 1);
  const Indices dilations = amounts(op, names.window_dilations, rank, 1, 1);
  std::vector<SlidingWindow> windows;
  for (std::size_t d = 0; d < rank; ++d) {
    const SlidingWindow window{sizes[d],           strides[d], padding[2 * d],
                               padding[2 * d + 1], base[d],    dilations[d]};
    const auto is_long = [](std::int64_t count, std::int64_t step) {
      return count > 1 && count - 1 > kMaxAmount / step;
    };
    if (is_long(sizes[d], dilations[d]) || is_long(shape[d], base[d])) {
      malformed(op, fmt::format("dilates dimension {} beyond what any tensor holds", d));
    }
    windows.push_back(window);
  }
  return windows;
}

Shape window_counts(const std::vector<SlidingWindow>& windows, const Shape& shape) {
  Shape counts;
  for (std::size_t d = 0; d < shape.size(); ++d) counts.push_back(windows[d].count(shape[d]));
  return counts;
}

void trim(std::vector<SlidingWindow>& windows, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    SlidingWindow& window = windows[d];
    const std::int64_t step = window.window_dilation;
    // The last window reaches the first element with places from `first` on, the first window the
    // last element with those up to `end`.
    const std::int64_t last_start = (window.count(shape[d]) - 1) * window.stride - window.low;
    const std::int64_t last_element = window.low + (shape[d] - 1) * window.base_dilation;
    const std::int64_t first = last_start >= 0 ? 0 : (-last_start + step - 1) / step;
    const std::int64_t end = last_element < 0 ? 0 : std::min(last_element / step + 1, window.size);
    if (shape[d] == 0 || first >= end) {
      window.size = 0;
      continue;
    }
    window.low -= first * step;
    window.high -= (window.size - end) * step;
    window.size = end - first;
  }
}

bool have_no_places(const std::vector<SlidingWindow>& windows) {
  return std::ranges::find(windows, 0, &SlidingWindow::size) != windows.end();
}

}  // namespace superstep
