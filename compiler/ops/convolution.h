#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/sliding_window.h"

namespace superstep {

/// What the attributes of a convolution say: its windows by spatial dimension, and the dimensions
/// of its operands and its result by what they are.
struct Convolution {
  struct Dimensions {
    std::int64_t first = 0;   ///< batch; of the kernel: input feature
    std::int64_t second = 0;  ///< feature; of the kernel: output feature
    Indices spatial;
  };
  Dimensions image, kernel, result;
  std::vector<SlidingWindow> windows;
  std::vector<bool> reversed;  ///< by spatial dimension: the kernel's last place comes first
  std::int64_t feature_groups = 1, batch_groups = 1;

  [[nodiscard]] Shape result_shape(const Shape& image_shape, const Shape& kernel_shape) const;
};

/// Sums of products of an image and a kernel, as `dtype`.
[[nodiscard]] Tensor convolve(const Convolution& convolution, Tensor image, Tensor kernel,
                              DType dtype);

}  // namespace superstep
