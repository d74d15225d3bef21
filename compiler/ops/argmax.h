#pragma once

#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// Whether a reduction of numbers and their places along one dimension gives the place of the
/// largest or smallest of them, of several or of NaNs the first, as JAX's `argmax` and `argmin` do:
/// by the function that these print, from a number that none is beyond, and nobody uses the number.
[[nodiscard]] bool is_argmax(const Op& op, const Graph& graph);

/// The same as two reductions of one operand: the extreme number, then the first place that has it.
[[nodiscard]] std::vector<Tensor> expand_argmax(const Op& op, std::span<const Tensor> operands);

}  // namespace superstep
