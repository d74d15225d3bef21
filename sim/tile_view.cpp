#include "sim/tile_view.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sim/tile/tile.h"

namespace superstep {

TileId TileView::id() const { return tile_->id(); }

bool TileView::read(std::uint32_t address, std::span<std::byte> out) const {
  return tile_->memory().read(address, out);
}

bool TileView::write(std::uint32_t address, std::span<const std::byte> in) const {
  return tile_->memory().write(address, in);
}

std::uint32_t TileView::word(std::uint32_t address) const {
  const TileMemory& memory = tile_->memory();
  if (address % 4 != 0 || !memory.contains(address, 4)) {
    throw MalformedInput(fmt::format("{:#x} is no word of tile {}, whose memory is {:#x} to {:#x}",
                                     address, index(id()), memory.base(),
                                     memory.base() + memory.size()));
  }
  return memory.word(address);
}

std::uint32_t TileView::supervisor_register(std::uint32_t number) const {
  return tile_->supervisor_register(number);
}

}  // namespace superstep
