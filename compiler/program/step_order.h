#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// When steps run that do not depend on each other.
enum class StepOrder : std::uint8_t {
  kBalanced,     ///< as soon as their operands are there, or later where tiles are idle then
  kEarliest,     ///< as soon as their operands are there
  kLeastMemory,  ///< so that little is live at once
};

/// A step to be ordered.
struct StepUses {
  std::set<BufferId> reads, writes;
};

/// Most bytes of temporaries that live at once, on all tiles together, when the steps run in their
/// order.
[[nodiscard]] std::uint64_t live_bytes(const std::vector<Buffer>& buffers,
                                       const std::vector<StepUses>& steps);

/// The numbers of the steps in an order that keeps what they depend on: the one with the least
/// `live_bytes` of the given one, of list scheduling by what a step frees less what it makes, and
/// of a depth-first search from the steps that nothing depends on.
[[nodiscard]] std::vector<std::size_t> order_for_memory(const std::vector<Buffer>& buffers,
                                                        const std::vector<StepUses>& steps);

}  // namespace superstep
