#pragma once

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"

namespace superstep {

/// Windows of a tensor as dimensions of their own: a dimension that windows slide along has their
/// number, and the places of a window follow behind all others. It is a view of the tensor, in
/// which elements are as often as windows have them (im2col).
extern const OpDefinition kUnfoldOp;

/// How windows without gaps slide along one dimension.
struct Unfolded {
  std::int64_t dimension = 0;
  std::int64_t size = 1, stride = 1, dilation = 1;
};

/// Dimensions of places follow in the order of `windows`.
[[nodiscard]] Tensor unfold(Tensor x, const std::vector<Unfolded>& windows);

}  // namespace superstep
