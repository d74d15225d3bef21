#pragma once

#include "compiler/graph/graph.h"

namespace superstep {

/// Refuses an algorithm of a dot_general but the one that products of these types have: of their
/// elements as they are, each pair once, with sums in f32, or in f64 if an operand is f64.
void check_algorithm(const Op& op, DType lhs, DType rhs, DType result);

/// For a product of other operands than those that the algorithm was checked for.
void erase_algorithm(Op& op);

}  // namespace superstep
