#pragma once

#include <span>
#include <vector>

#include "compiler/ops/elements.h"

namespace superstep {

/// Tensors of small whole numbers, whose sums and products are exact in any order.
inline std::vector<HostTensor> whole_numbers(std::span<const TensorType> types) {
  std::vector<HostTensor> tensors;
  for (const TensorType& type : types) {
    const std::size_t seed = 2 * tensors.size() + 1;
    HostTensor& tensor = tensors.emplace_back(type);
    for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
      write_float(tensor, i, static_cast<double>((i * 7 + i / 5 + seed) % 5) - 2);
    }
  }
  return tensors;
}

}  // namespace superstep
