#pragma once

#include "compiler/passes/split/rules.h"

namespace superstep::split {

/// Complex numbers as two tensors of f32 or f64.
struct Complex {
  Tensor real, imaginary;
};

[[nodiscard]] Complex select(Tensor condition, Complex a, Complex b);
[[nodiscard]] Tensor infinity(Tensor like);
/// `x` negated where `sign` is negative, or a zero that is.
[[nodiscard]] Tensor with_sign_of(Tensor x, Tensor sign);
/// sqrt(x^2 + y^2), infinite where a part is.
[[nodiscard]] Tensor absolute(Complex z);
/// Its logarithm, which does not overflow.
[[nodiscard]] Tensor log_of_absolute(Complex z);

// Inverse functions, with the branch cuts of C; a zero's sign says on which side of one it is.
[[nodiscard]] Complex arc_sine(Complex z);
[[nodiscard]] Complex arc_cosine(Complex z);
[[nodiscard]] Complex arc_tangent(Complex z);
[[nodiscard]] Complex hyperbolic_arc_sine(Complex z);
[[nodiscard]] Complex hyperbolic_arc_cosine(Complex z);
[[nodiscard]] Complex hyperbolic_arc_tangent(Complex z);

}  // namespace superstep::split
