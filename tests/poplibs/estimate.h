#pragma once

#include <cstdint>
#include <optional>

#include "tests/poplibs/case.h"

namespace superstep::poplibs {

/// What PopLibs' own estimator says a case costs: slots of the worker for a vertex of one worker,
/// else clocks of the tile. None when PopLibs has no estimator for the vertex.
std::optional<std::uint64_t> estimate(const Case& run);

}  // namespace superstep::poplibs
