#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.h"

namespace superstep {

class Tile;

/// A tile of a simulation that stands still. Valid as long as the simulation.
class TileView {
 public:
  explicit TileView(Tile& tile) : tile_(&tile) {}

  [[nodiscard]] TileId id() const;
  /// Copies bytes of its memory out or in; false, and nothing done, when they are not all in it.
  [[nodiscard]] bool read(std::uint32_t address, std::span<std::byte> out) const;
  [[nodiscard]] bool write(std::uint32_t address, std::span<const std::byte> in) const;
  /// The word at an aligned address of its memory; throws MalformedInput for another.
  [[nodiscard]] std::uint32_t word(std::uint32_t address) const;
  /// $m0 to $m15 of the supervisor.
  [[nodiscard]] std::uint32_t supervisor_register(std::uint32_t number) const;

 private:
  Tile* tile_;
};

}  // namespace superstep
