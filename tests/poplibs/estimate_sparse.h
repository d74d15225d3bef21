#pragma once

#include <cstdint>
#include <optional>

#include "tests/poplibs/case.h"

namespace superstep::poplibs {

/// What the functions of PopLibs' planner say of a popsparse vertex, whose entries in PopLibs'
/// table of estimators are empty: with its own sub-group once, in one bucket. None of other cases.
std::optional<std::uint64_t> estimate_sparse(const Case& run);

}  // namespace superstep::poplibs
