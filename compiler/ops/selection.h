#pragma once

#include <cstdint>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// Integers along the last dimension, and their places, i32 below `places_end`. Of equal integers
/// the one with the lower place is first.
struct Candidates {
  Tensor keys, places;
  std::int64_t places_end;
};

/// The key that none is above.
[[nodiscard]] Tensor last_key(GraphBuilder& builder, DType dtype);

/// The least along the last dimension, which the result does not have.
[[nodiscard]] Tensor least(Tensor x, Tensor none);

/// The `count` least, from the least: one, then that of the others, and so on.
[[nodiscard]] Candidates least_one_by_one(const Candidates& all, std::int64_t count);

}  // namespace superstep
