#pragma once

#include <map>

#include "compiler/program/program.h"

namespace superstep {

/// Puts other buffers in the place of those that something uses: the second of each pair for the
/// first.
void substitute(Movement& movement, const std::map<BufferId, BufferId>& others);
void substitute(ComputeSet& set, const std::map<BufferId, BufferId>& others);
void substitute(Superstep& superstep, const std::map<BufferId, BufferId>& others);
/// In loops and branches too; not of a call.
void substitute(Step& step, const std::map<BufferId, BufferId>& others);

}  // namespace superstep
