#pragma once

#include <cstdint>

#include "base/units.h"

namespace superstep {

/// A tile that waits at a barrier.
struct WaitingTile {
  TileId tile{};
  Cycles cycle;
  std::uint32_t zone = 0;
  std::uint32_t pc = 0;
};

}  // namespace superstep
