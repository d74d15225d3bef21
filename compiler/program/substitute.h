#pragma once

#include <map>

#include "compiler/program/program.h"

namespace superstep {

/// Puts other buffers in the place of those that a superstep uses: the second of each pair for the
/// first.
void substitute(Superstep& superstep, const std::map<BufferId, BufferId>& others);

}  // namespace superstep
