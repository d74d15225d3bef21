#pragma once

#include <string>

#include "compiler/graph/graph.h"

namespace superstep {

/// A module of the ops that the generator proposes, as StableHLO in the generic form.
[[nodiscard]] std::string stablehlo_text(const Module& module);

}  // namespace superstep
