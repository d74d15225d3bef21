#pragma once

#include <cstdint>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// `superstep.merge` of keys.
[[nodiscard]] Tensor merged(Tensor keys, const Shape& shape, bool alternates);

/// The same merge of rows as merges of columns, in a table of so many `columns`. Then the lines of
/// the table are in order, and none has a key below one of the line before the last: what is left
/// is to merge pairs of neighbours, then the pairs between (as in Batcher's odd-even merge, where
/// there are two columns).
[[nodiscard]] Tensor merged_by_columns(Tensor keys, std::int64_t columns, bool alternates);

}  // namespace superstep
