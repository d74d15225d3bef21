#pragma once

#include <cstdint>

#include "tests/poplibs/case.h"

namespace superstep::poplibs {

/// What PopLibs says a vertex of popops' reductions costs: slots of its worker. PopLibs registers
/// these estimators in code that builds graphs, by the arguments of the vertex's type.
std::uint64_t estimate_reduction(const Case& run);

}  // namespace superstep::poplibs
