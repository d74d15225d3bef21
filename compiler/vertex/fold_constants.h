#pragma once

#include <vector>

#include "compiler/vertex/expression.h"

namespace superstep::vertex {

struct Folded {
  Expression expression;
  std::vector<Node> outputs;
};

/// The same outputs with fewer steps: what follows from constants alone is a constant, and what a
/// constant i1 decides is one of its operands.
[[nodiscard]] Folded fold_constants(const Expression& expression, const std::vector<Node>& outputs);

}  // namespace superstep::vertex
