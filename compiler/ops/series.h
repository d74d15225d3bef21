#pragma once

#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"

// What expansions of special functions are made of: formulas over tensors of f32 or f64.

namespace superstep {

/// The coefficients of a polynomial for f32, and those of a longer one for f64, the constant first.
struct Coefficients {
  std::span<const double> of_f32, of_f64;
  [[nodiscard]] std::span<const double> of(DType dtype) const {
    return dtype == DType::kF64 ? of_f64 : of_f32;
  }
};

/// By Horner's rule. That of f64 is a loop, since each of its steps is much code.
Tensor polynomial(Tensor x, const Coefficients& coefficients);
/// That of `first` where the condition holds, else that of `second`, which has as many.
Tensor polynomial(Tensor x, Tensor condition, const Coefficients& first,
                  const Coefficients& second);

/// Along a first dimension, so that one piece of code serves all.
Tensor stacked(const std::vector<Tensor>& parts);
Tensor part_of_stack(Tensor stack, std::int64_t i);

/// Floats of 16 bits as f32, others as they are.
Tensor widened(Tensor x);

/// Expands an op on floats of one type to a formula over f32 or f64.
template <Tensor (*kFormula)(Tensor)>
std::vector<Tensor> expand_unary(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {convert(kFormula(widened(operands[0])), operands[0].dtype())};
}
template <Tensor (*kFormula)(Tensor, Tensor)>
std::vector<Tensor> expand_binary(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {convert(kFormula(widened(operands[0]), widened(operands[1])), operands[0].dtype())};
}

}  // namespace superstep
