#pragma once

#include <string_view>

#include "compiler/graph/graph.h"

namespace superstep {

/// The region of a reduction by one binary op, `stablehlo.add`, …
[[nodiscard]] Graph binary_reducer(std::string_view op, DType dtype);

/// A region that returns its second argument.
[[nodiscard]] Graph replacing_reducer(DType dtype);

/// The region JAX prints for argmax: of two (value, index) pairs the one with the larger value, of
/// equal ones the lower index; a NaN counts as the largest.
[[nodiscard]] Graph arg_max_reducer(DType value, DType index);

}  // namespace superstep
