#pragma once

#include "compiler/ops/elements.h"

namespace superstep {

/// A tensor of the number 0, or of what that is rounded to where a float type has none.
[[nodiscard]] inline HostTensor zeros(TensorType type) {
  HostTensor result(std::move(type));
  if (!is_narrow_float(result.type.dtype)) return result;
  for (std::size_t i = 0; i < result.data.size(); ++i) write_float(result, i, 0);
  return result;
}

}  // namespace superstep
