#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/exchange/schedule.h"

namespace superstep {

/// The round of each transfer when those of equally many destinations rotate: member j of a group
/// sends to member j + i in round i, so that all ports are busy from the first round to the last.
/// Ranks among the transfers of one sender and of one (first) destination stand for the numbers of
/// members, so the groups need not be known.
[[nodiscard]] std::vector<std::uint32_t> rounds_of(std::span<const Transfer> transfers);

}  // namespace superstep
