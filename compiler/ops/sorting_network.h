#pragma once

#include <optional>
#include <vector>

#include "compiler/ops/comparator.h"
#include "compiler/ops/graph_builder.h"

namespace superstep {

/// Keys, and numbers where ties are broken by them, of rows.
struct SortedRows {
  std::vector<Tensor> keys;
  std::optional<Tensor> numbers;
};

/// Rows along dimension 1 of tensors of rank 3 in the order of a comparator, as many as they are or
/// more: a power of two; those of the keys come first. `is_numbered` if ties are broken by the
/// numbers that rows had.
[[nodiscard]] SortedRows sort_by_network(std::vector<Tensor> keys, bool is_numbered,
                                         const Comparator& comparator);

}  // namespace superstep
