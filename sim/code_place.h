#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace superstep {

/// An instruction of a tile, in one of its contexts or in any.
struct CodePlace {
  TileId tile{};
  std::uint32_t pc = 0;
  std::optional<std::uint32_t> context = {};  ///< as in `IssuedInstruction`

  bool operator==(const CodePlace&) const = default;
};

}  // namespace superstep
