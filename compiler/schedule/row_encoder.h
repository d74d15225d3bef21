#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// Words that leave a tile, item by item (ExchangeItem) from `cycle` after the tile's release.
struct RowSend {
  std::uint64_t cycle = 0;
  std::uint32_t address = 0;
  std::uint32_t words = 0;
};

/// Words that arrive at a tile, the first item from `cycle` on. The host (kMuxHost) sets no
/// pointer, because its packets carry addresses, and as the last of a row stays selected: when they
/// come only the host knows.
struct RowReceive {
  std::uint64_t cycle = 0;
  std::uint32_t source = 0;  ///< mux number
  std::uint32_t address = 0;
  std::uint32_t words = 0;
};

/// The first cycle of a row in which an event can be: one instruction aligns what follows the sync.
constexpr std::uint64_t kFirstRowCycle = 1;

/// One tile's phase as supervisor code: `sync zone`, then its events in exactly the given cycles. A
/// control that falls into an item that takes several cycles, and leaves the tile, follows it. Both
/// lists ascend by cycle without overlaps; the mux is idle between and after those from tiles. The
/// row must be placed at an 8-byte boundary and has an even number of words.
[[nodiscard]] std::vector<std::uint32_t> encode_row(const MachineConfig& machine,
                                                    std::uint32_t zone,
                                                    std::span<const RowSend> sends,
                                                    std::span<const RowReceive> receives);

}  // namespace superstep
