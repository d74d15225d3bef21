#pragma once

#include "compiler/graph/graph.h"

namespace superstep {

/// Lets each execution of an op that draws random numbers draw others: inlined copies of one get
/// numbers, and loops with such ops carry a count of their turns, which the ops take.
[[nodiscard]] Graph number_draws(Graph graph);

}  // namespace superstep
