#pragma once

#include <utility>
#include <vector>

#include "compiler/graph/graph.h"

namespace superstep {

/// Builds a graph from another one op by op, and remembers what became of each value.
class Rewrite {
 public:
  explicit Rewrite(const Graph& from);

  [[nodiscard]] ValueId of(ValueId old) const { return values_[index(old)]; }
  void replace(ValueId old, ValueId replacement) { values_[index(old)] = replacement; }
  /// A copy of `op` with its operands replaced.
  [[nodiscard]] Op translated(const Op& op) const;
  /// Appends the op that takes the place of `old`.
  const Op& add(const Op& old, Op replacement);
  /// Appends an op of operands of the new graph that the old one does not have; its result.
  ValueId append(Op op) { return to_.add_op(std::move(op)).results[0]; }

  [[nodiscard]] const Graph& graph() const { return to_; }
  /// The new graph, with the results of the old one.
  Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> values_;
};

}  // namespace superstep
