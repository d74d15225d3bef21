#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/values.h"

namespace superstep {

/// How elements combine: `spec.expression` over accumulators and elements.
struct Combine {
  ReduceSpec spec;
  std::string key;                        ///< equal for equal specs
  std::optional<std::uint64_t> identity;  ///< bits that change nothing; needed to combine in stages
};

/// `combine` as one primitive over one value of `dtype`, which must have an identity.
[[nodiscard]] Combine combine_with(vertex::Primitive primitive, DType dtype);

/// The identity of an associative primitive, if it has one.
[[nodiscard]] std::optional<std::uint64_t> identity_of(vertex::Primitive primitive, DType dtype);

/// A reduction of one or more values of equal index space over some of its axes.
struct Reduction {
  Combine combine;
  std::vector<Axis> kept,
      reduced;  ///< sizes and `from` strides; row-major order of results and of combination
  /// Copies that read the elements of each value through a box of its flat numbers.
  std::vector<std::function<Reading(const Box&)>> read;
  std::vector<Splat> initial;
  LayoutPtr layout;  ///< of the results, with single-tile intervals
};

/// Results of a reduction, and when they are there.
struct Reduced {
  std::vector<BufferId> results;
  Time time;
};

/// Lowers a reduction that has elements and results.
Reduced lower_reduction(ProgramBuilder& builder, Values& values, const Reduction& reduction,
                        const Origin& origin);

/// Lowers `stablehlo.reduce`.
void lower_reduce(ProgramBuilder& builder, Values& values, const Op& op);

}  // namespace superstep
