#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// How the rows of a merge sort are cut: into a power of two of runs, which a network sorts.
struct MergeRuns {
  explicit MergeRuns(std::int64_t count);

  std::int64_t length = 1, runs = 1;
  /// With those behind the others, so that all runs have the same length.
  [[nodiscard]] std::int64_t rows() const { return length * runs; }
};

/// Merges keys as `superstep.merge` does.
using MergeKeys = std::function<Tensor(Tensor keys, bool alternates)>;

/// Rows along the last dimension of tensors [batches, rows], in the order of their words, i32: one
/// or two, compared one after the other.
[[nodiscard]] std::vector<Tensor> merge_sorted(const std::vector<Tensor>& words,
                                               const MergeKeys& merge);

}  // namespace superstep
