#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/values.h"

namespace superstep {

/// How elements combine: `reduce.expression` over accumulators and elements.
struct Combine {
  vertex::Reduce reduce;
  std::string key;                        ///< equal for equal reductions
  std::optional<std::uint64_t> identity;  ///< bits that change nothing; needed to combine in stages
};

/// `combine` as one primitive over one value of `dtype`, which must have an identity.
[[nodiscard]] Combine combine_with(vertex::Primitive primitive, DType dtype);

/// How a reducer of `region` combines elements.
[[nodiscard]] Combine combine_of(const Graph& region);

/// `region` over elements that `convert`, an op of `graph`, converts.
[[nodiscard]] vertex::Reduce combine_converted(const Graph& graph, const Graph& region,
                                               const Op& convert);

/// The identity of an associative primitive, if it has one.
[[nodiscard]] std::optional<std::uint64_t> identity_of(vertex::Primitive primitive, DType dtype);

class BlockLowering;

/// Whether `reduce` had better convert its elements itself, rather than `convert` in a step of its
/// own: where that is estimated to take no more cycles, or memory is short.
[[nodiscard]] bool converts_in_reduction(BlockLowering& block, const Op& convert, const Op& reduce);

}  // namespace superstep
