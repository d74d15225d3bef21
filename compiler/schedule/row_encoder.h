#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// Words that leave a tile, one a cycle from `cycle` after the tile's release.
struct RowSend {
  std::uint64_t cycle = 0;
  std::uint32_t address = 0;
  std::uint32_t words = 0;
};

/// Words that arrive at a tile. A `source` that is no tile (kMuxHost) sets the mux but no pointer.
struct RowReceive {
  std::uint64_t cycle = 0;
  std::uint32_t source = 0;  ///< mux number
  std::uint32_t address = 0;
  std::uint32_t words = 0;
};

/// The first cycle of a row in which an event can be: one instruction aligns what follows the sync.
constexpr std::uint64_t kFirstRowCycle = 1;

/// One tile's phase as supervisor code: `sync zone`, then its events in exactly the given cycles.
/// Both lists ascend by cycle without overlaps; the mux is idle between and after the receives.
/// The row must be placed at an 8-byte boundary and has an even number of words.
[[nodiscard]] std::vector<std::uint32_t> encode_row(const MachineConfig& machine,
                                                    std::uint32_t zone,
                                                    std::span<const RowSend> sends,
                                                    std::span<const RowReceive> receives);

}  // namespace superstep
