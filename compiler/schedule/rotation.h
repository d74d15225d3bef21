#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/tasks.h"

namespace superstep {

/// When each task begins if those of one collective (of all if not `by_collective`) and equally
/// many destinations rotate: member j of a group sends to member j + i in round i, so that all
/// ports are busy from the first round to the last. Tasks (or cycles, when chains are of many
/// lengths) before one among those of its sender and of its (first) destination stand for the
/// numbers of members, so the groups need not be known.
[[nodiscard]] std::vector<std::uint32_t> rotation_of(const Tasks& tasks, bool by_collective);

}  // namespace superstep
