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

/// The identity of an associative primitive, if it has one.
[[nodiscard]] std::optional<std::uint64_t> identity_of(vertex::Primitive primitive, DType dtype);

}  // namespace superstep
