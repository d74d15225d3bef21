#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule/place.h"
#include "compiler/schedule/schedule.h"

namespace superstep {

/// The round of each transfer when those of equally many destinations rotate: member j of a group
/// sends to member j + i in round i, so that all ports are busy from the first round to the last.
/// Ranks among the transfers of one sender and of one (first) destination stand for the numbers of
/// members, so the groups need not be known.
[[nodiscard]] std::vector<std::uint32_t> rounds_of(std::span<const Transfer> transfers);

/// Numbers of sets of tasks, no two of which share a sender or a (first) destination: the edges of
/// a bipartite graph are halved along Euler trails until no port has two, so that equal tasks in
/// the order of their sets keep every port busy.
[[nodiscard]] std::vector<std::uint32_t> matchings_of(std::span<const Task> tasks,
                                                      std::uint32_t tiles);

}  // namespace superstep
