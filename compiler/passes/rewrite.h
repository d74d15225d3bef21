#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "compiler/graph/append_copy.h"
#include "compiler/ops/graph_builder.h"

namespace superstep {

/// Builds a graph from another one op by op, and remembers what became of each value.
class Rewrite {
 public:
  explicit Rewrite(const Graph& from);

  [[nodiscard]] ValueId of(ValueId old) const { return values_[index(old)]; }
  [[nodiscard]] const TensorType& old_type(ValueId old) const { return from_.type(old); }
  void replace(ValueId old, ValueId replacement) { values_[index(old)] = replacement; }
  /// A copy of `op` with its operands replaced.
  [[nodiscard]] Op translated(const Op& op) const;
  /// Appends the op that takes the place of `old`.
  const Op& add(const Op& old, Op replacement);
  /// Appends a copy of an op of another graph, as `append_copy`.
  void append(const Op& op, std::vector<ValueId>& values) { append_copy(to_, op, values); }
  /// For ops that the old graph does not have; they are said to come from where `old` does.
  [[nodiscard]] GraphBuilder builder(const Op& old) { return {to_, old.location}; }

  [[nodiscard]] const Graph& graph() const { return to_; }
  /// The new graph, with the results of the old one.
  [[nodiscard]] Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> values_;
};

/// Whether an op, or one in its regions, does something besides its results.
[[nodiscard]] bool has_effect(const Op& op);

/// Applies a pass to the regions of a graph, innermost first, then to the graph itself.
[[nodiscard]] Graph apply_with_regions(Graph graph, const std::function<Graph(Graph)>& pass);

}  // namespace superstep
