#pragma once

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/series.h"

// Special functions of f32 to their last bits, in pairs of f32.

namespace superstep {

/// Exact to the last bits also near the zeros on the negative axis, as is digamma.
[[nodiscard]] Tensor log_gamma_of_single(Tensor x);
[[nodiscard]] Tensor digamma_of_single(Tensor x);
[[nodiscard]] Tensor zeta_of_single(Tensor s, Tensor q);
[[nodiscard]] Tensor polygamma_of_single(Tensor n, Tensor x);
[[nodiscard]] Tensor scaled_bessel_of_single(Tensor x);

/// An op on floats by one formula for f32 and by another one for f64, and for f32 of which 16 bits
/// are kept.
template <Tensor (*kOfSingle)(Tensor), Tensor (*kFormula)(Tensor)>
std::vector<Tensor> expand_special(GraphBuilder& builder, const Op& op,
                                   std::span<const Tensor> operands) {
  if (operands[0].dtype() == DType::kF32) return {kOfSingle(operands[0])};
  return expand_unary<kFormula>(builder, op, operands);
}
template <Tensor (*kOfSingle)(Tensor, Tensor), Tensor (*kFormula)(Tensor, Tensor)>
std::vector<Tensor> expand_special(GraphBuilder& builder, const Op& op,
                                   std::span<const Tensor> operands) {
  if (operands[0].dtype() == DType::kF32) return {kOfSingle(operands[0], operands[1])};
  return expand_binary<kFormula>(builder, op, operands);
}

}  // namespace superstep
