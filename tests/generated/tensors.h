#pragma once

#include "base/dtype.h"
#include "compiler/ops/dtype_set.h"
#include "tests/generated/random.h"

namespace superstep {

/// An element type of a set, f32 more often than the others, those of more or fewer bits than
/// registers seldom.
[[nodiscard]] DType random_dtype(Random& random, DTypeSet among = kAnyDType);

/// Rank 0 … 5 with odd sizes, sometimes 1 or empty; no more than `most` elements.
[[nodiscard]] Shape random_shape(Random& random, std::int64_t most);

/// Elements of one flavour: small numbers with many ties, ordinary ones, wide ones, or a mixture
/// with infinities, NaN, zeros of both signs, subnormals and the ends of the range. Moderate ones
/// are small or ordinary.
[[nodiscard]] HostTensor random_tensor(Random& random, const TensorType& type,
                                       bool is_moderate = false);

/// Whether each element is a number of the size of moderate ones.
[[nodiscard]] bool is_moderate(const HostTensor& tensor);

}  // namespace superstep
