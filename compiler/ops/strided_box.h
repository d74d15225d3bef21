#pragma once

#include "compiler/ops/op.h"

namespace superstep {

/// The same copy with as few dimensions as possible: those of size 1 dropped, those that follow
/// each other in both tensors merged.
[[nodiscard]] StridedBox merged(const StridedBox& box);

/// `box` merged, or nothing when it holds no element.
[[nodiscard]] std::vector<StridedBox> single_box(const StridedBox& box);

}  // namespace superstep
