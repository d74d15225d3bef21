#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "isa/machine_config.h"
#include "isa/timing.h"

namespace superstep {

/// The tile at row 0, lane 0 of a column.
inline TileId top_of(const MachineConfig& machine, std::uint32_t column) {
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    const TilePlace place = place_of(machine, TileId{t});
    if (place.row == 0 && place.column == column && place.lane == 0) return TileId{t};
  }
  ADD_FAILURE() << "no tile in column " << column;
  return TileId{0};
}

}  // namespace superstep
