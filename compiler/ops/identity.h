#pragma once

#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// What a definition says of an op whose results are its operands.
[[nodiscard]] inline std::vector<TensorType> infer_identity(const Op&,
                                                            std::span<const TensorType> operands) {
  return {operands.begin(), operands.end()};
}
[[nodiscard]] inline std::vector<HostTensor> evaluate_identity(
    const Op&, std::span<const HostTensor> operands) {
  return {operands.begin(), operands.end()};
}
[[nodiscard]] inline std::vector<Tensor> expand_identity(GraphBuilder&, const Op&,
                                                         std::span<const Tensor> operands) {
  return {operands.begin(), operands.end()};
}

}  // namespace superstep
