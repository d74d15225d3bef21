#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace superstep {

/// Why a tile stopped: names cycle, superstep, tile, context and pc.
struct Trap {
  Cycles cycle;
  std::uint64_t superstep = 0;
  TileId tile{};
  std::string context;  ///< `supervisor`, `worker 2`, `exchange`, `host link`
  std::uint32_t pc = 0;
  std::string cause;

  [[nodiscard]] std::string text() const;
};

}  // namespace superstep
