#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tests/generated/bounded.h"

namespace superstep {

/// What an op makes of bounded operands, given its results by the reference semantics.
using BoundedResults = std::optional<std::vector<Bounded>>;
using BoundRule = BoundedResults (*)(const Op& op, std::span<const Bounded> operands,
                                     std::vector<HostTensor> values);

/// Rounds a bound up, with room for the roundings of its computation.
void write_error(HostTensor& error, std::size_t element, double bound);
[[nodiscard]] inline double error_at(const Bounded& x, std::size_t element) {
  return double{x.error.get<float>(element)};
}
[[nodiscard]] bool are_exact(std::span<const Bounded> operands);
[[nodiscard]] inline std::size_t elements_of(const HostTensor& tensor) {
  return static_cast<std::size_t>(tensor.type.elements());
}
/// Errors for the elements of a tensor, 0.
[[nodiscard]] HostTensor errors_for(const HostTensor& tensor);
/// A float or the size of a complex number; of an integer 0.
[[nodiscard]] double size_at(const HostTensor& tensor, std::size_t element);
/// |x| and its error, f32.
[[nodiscard]] HostTensor magnitudes(const Bounded& x);
/// `evaluate` of f32 in the place of floats or complex numbers.
[[nodiscard]] HostTensor evaluate_as_f32(Op op, const std::vector<HostTensor>& operands);
/// All elements off by no more than this; empty unless that and all elements are numbers.
[[nodiscard]] std::optional<Bounded> within(HostTensor value, double error);
/// Not compared at all.
[[nodiscard]] Bounded unbounded(HostTensor value);

// bounds_of_sums.cpp
/// What is added to the elements of one table.
BoundedResults bound_scatter_sum(const Op& op, std::span<const Bounded> operands, HostTensor value);
BoundedResults bound_reduce(const Op& op, std::span<const Bounded> operands,
                            std::vector<HostTensor> values);
BoundedResults bound_reduce_window(const Op& op, std::span<const Bounded> operands,
                                   std::vector<HostTensor> values);
BoundedResults bound_select_and_scatter(const Op& op, std::span<const Bounded> operands,
                                        std::vector<HostTensor> values);
BoundedResults bound_dot_general(const Op& op, std::span<const Bounded> operands,
                                 std::vector<HostTensor> values);
BoundedResults bound_convolution(const Op& op, std::span<const Bounded> operands,
                                 std::vector<HostTensor> values);
/// A reduction may keep the payload of a NaN or not: its f16 accumulators are f32.
void free_payloads(Bounded& x);

// bounds_of_algebra.cpp
BoundedResults bound_fft(const Op& op, std::span<const Bounded> operands,
                         std::vector<HostTensor> values);
/// Factors of matrices and solutions of systems, far from singular ones.
BoundedResults bound_factors(const Op& op, std::span<const Bounded> operands,
                             std::vector<HostTensor> values);
BoundedResults bound_cholesky(const Op& op, std::span<const Bounded> operands,
                              std::vector<HostTensor> values);
BoundedResults bound_call(const Op& op, std::span<const Bounded> operands,
                          std::vector<HostTensor> values);
BoundedResults bound_batch_norm(const Op& op, std::span<const Bounded> operands,
                                std::vector<HostTensor> values);
BoundedResults bound_random(const Op& op, std::span<const Bounded> operands,
                            std::vector<HostTensor> values);

}  // namespace superstep
