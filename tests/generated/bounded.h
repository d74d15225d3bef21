#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/graph/graph.h"

namespace superstep {

/// A tensor by the reference semantics, and how far from it the machine may be.
struct Bounded {
  HostTensor value;
  HostTensor error;  ///< f32, one for each element: absolute; 0 asks for the same bits
};

/// `value` with no error.
[[nodiscard]] Bounded exactly(HostTensor value);

/// The results of an op, with errors after the rules of docs/numerics.md: single IEEE operations,
/// integers and movement add none, transcendentals some ULP, sums and products 2 K u sum|a||b|, and
/// transforms and factors of matrices some units of their norm. An error that is infinite asks for
/// nothing.
/// Empty where these rules bound nothing: a discontinuous op of an inexact element, a sum of
/// infinities.
[[nodiscard]] std::optional<std::vector<Bounded>> propagate(const Op& op,
                                                            std::span<const Bounded> operands);

/// Every value of a graph; empty when one has no bound.
[[nodiscard]] std::optional<std::vector<Bounded>> propagate(const Graph& graph,
                                                            std::span<const Bounded> arguments);

/// The first element that is further from the reference than its bound. The bits of a NaN are free.
[[nodiscard]] std::optional<std::size_t> first_wrong(const Bounded& expected,
                                                     const HostTensor& found);

}  // namespace superstep
