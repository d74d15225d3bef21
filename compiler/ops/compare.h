#pragma once

#include "compiler/graph/graph.h"

namespace superstep {

/// Whether a `stablehlo.compare` takes floats in total order: -NaN < -inf < … < -0 < +0 < … < NaN.
[[nodiscard]] bool is_total_order(const Op& compare);

}  // namespace superstep
