#pragma once

#include <cstddef>
#include <span>

#include "compiler/ops/graph_builder.h"

// Unevaluated sums of two tensors of f32, for formulas whose parts cancel or whose last bits count:
// about 45 bits (Dekker 1971, Knuth). Numbers are below 2^114 in size, and so are products.

namespace superstep {

struct Pair {
  Tensor high, low;  ///< `high` is the nearest f32 of the sum
};

/// The f32 nearest to a number, and to what it leaves.
[[nodiscard]] Pair pair_like(Tensor like, double number);
[[nodiscard]] Pair exact_sum(Tensor a, Tensor b);
[[nodiscard]] Pair exact_product(Tensor a, Tensor b);
[[nodiscard]] inline Tensor rounded(Pair x) { return x.high + x.low; }
[[nodiscard]] Pair select(Tensor condition, Pair a, Pair b);

Pair operator-(Pair a);
Pair operator+(Pair a, Pair b);
Pair operator+(Pair a, Tensor b);
Pair operator-(Pair a, Pair b);
Pair operator*(Pair a, Pair b);
Pair operator*(Pair a, Tensor b);
Pair operator/(Pair a, Pair b);

/// By Horner's rule. The first `exact` coefficients are added as pairs, the others as f32: their
/// terms are to be small against the sum.
[[nodiscard]] Pair polynomial(Pair x, std::span<const double> coefficients, std::size_t exact);
/// That of `first` where the condition holds, else that of `second`, which has as many.
[[nodiscard]] Pair polynomial(Pair x, Tensor condition, std::span<const double> first,
                              std::span<const double> second, std::size_t exact);

/// Of positive numbers, subnormal ones too.
[[nodiscard]] Pair logarithm(Tensor x);
/// sin(pi x) and cos(pi x) for |x| <= 1/2.
[[nodiscard]] Pair sine_of_half_turns(Tensor x);
[[nodiscard]] Pair cosine_of_half_turns(Tensor x);

}  // namespace superstep
