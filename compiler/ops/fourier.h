#pragma once

#include <cstdint>

#include "compiler/ops/graph_builder.h"

namespace superstep {

// Fourier transforms along the last dimension, which has at least one element.

/// Of a complex or real `x`, as complex numbers; the inverse is divided by the length.
[[nodiscard]] Tensor fourier(Tensor x, bool inverse);

/// Of real `x` of length n, its first n / 2 + 1 elements: the others are their conjugates.
[[nodiscard]] Tensor half_fourier(Tensor x);

/// The real tensor of length `n` whose transform begins with `x`, which has n / 2 + 1 elements. The
/// imaginary part of the first one is not read, nor of the last one where n is even.
[[nodiscard]] Tensor from_half_fourier(Tensor x, std::int64_t n);

}  // namespace superstep
