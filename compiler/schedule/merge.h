#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace superstep {

/// The same data movement in fewer transfers, in the order of their first parts: neighbours in
/// source and every destination become one, one source range for several tiles becomes one
/// multicast, and what would not move is dropped. A transfer to its own sender within one element
/// is cut so that no piece is read while it is written.
[[nodiscard]] std::vector<Transfer> merge_transfers(const MachineConfig& machine,
                                                    std::span<const Transfer> transfers);

/// The memory block of an address that a send and a receive of one cycle must not share: an element
/// of region 0, an interleaved pair of region 1.
[[nodiscard]] std::uint32_t memory_block(const MachineConfig& machine, std::uint32_t address);

}  // namespace superstep
