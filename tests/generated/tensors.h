#pragma once

#include "base/dtype.h"
#include "tests/generated/random.h"

namespace superstep {

/// Every element type, f32 more often than the others.
[[nodiscard]] DType random_dtype(Random& random);

/// Rank 0 … 5 with odd sizes, sometimes 1 or empty; no more than `most` elements.
[[nodiscard]] Shape random_shape(Random& random, std::int64_t most);

/// Elements of one flavour: small numbers with many ties, ordinary ones, wide ones, or a mixture
/// with infinities, NaN, zeros of both signs, subnormals and the ends of the range.
[[nodiscard]] HostTensor random_tensor(Random& random, const TensorType& type);

}  // namespace superstep
