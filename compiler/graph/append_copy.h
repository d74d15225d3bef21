#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"

namespace superstep {

/// Appends a copy of an op of another graph. `values` has what its operands are here, by value of
/// that graph, and gets its results.
inline void append_copy(Graph& to, const Op& op, std::vector<ValueId>& values,
                        const std::vector<std::string>& result_names = {}) {
  Op copy = op;
  for (ValueId& operand : copy.operands) operand = values[index(operand)];
  const std::vector<ValueId>& results = to.add_op(std::move(copy), result_names).results;
  for (std::size_t i = 0; i < results.size(); ++i) values[index(op.results[i])] = results[i];
}

}  // namespace superstep
