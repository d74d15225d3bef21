#pragma once

#include "base/units.h"
#include "isa/machine_config.h"

namespace superstep {

/// Physical place of a logical tile.
struct TilePlace {
  std::uint32_t row, column, lane;
  TileId tile;
};

/// Tiles go up one column in pairs and down the next (osmarks/ipu-stack, exchange geometry).
[[nodiscard]] TilePlace place_of(const MachineConfig& machine, TileId tile);

/// Cycles from a word's slot on `source`'s bus to its write in `destination`'s memory.
[[nodiscard]] Cycles exchange_latency(const MachineConfig& machine, TileId source,
                                      TileId destination);
/// The same between places, for those who ask often.
[[nodiscard]] Cycles exchange_latency(const MachineConfig& machine, const TilePlace& source,
                                      const TilePlace& destination);

/// No word takes longer.
[[nodiscard]] Cycles longest_exchange_latency(const MachineConfig& machine);

/// The memory element an address lies in: two accesses of one cycle conflict when their elements
/// are equal. Region 1 interleaves two elements by 8 bytes (graphcore/poplibs, TMEM_ELEMSIZE
/// rules).
[[nodiscard]] std::uint32_t memory_element(const MachineConfig& machine, std::uint32_t address);

/// Cycles from the last arrival at an internal barrier to its opening.
[[nodiscard]] Cycles barrier_latency(const MachineConfig& machine);

/// Cycles by which `tile` leaves an internal barrier after it opens.
[[nodiscard]] Cycles release_skew(const MachineConfig& machine, TileId tile);

}  // namespace superstep
