#include "sim/tile_view.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sim/tile/tile.h"

namespace superstep {

Tile& TileView::seen() const {
  if (!access_->why_not_seen.empty()) throw UserError(ExitCode::kUsage, access_->why_not_seen);
  return *tile_;
}

TileId TileView::id() const { return tile_->id(); }

bool TileView::read(std::uint32_t address, std::span<std::byte> out) const {
  return seen().memory().read(address, out);
}

bool TileView::write(std::uint32_t address, std::span<const std::byte> in) const {
  if (!access_->why_not_changed.empty()) {
    throw UserError(ExitCode::kUsage, access_->why_not_changed);
  }
  access_->when_changed();
  return seen().memory().write(address, in);
}

std::uint32_t TileView::word(std::uint32_t address) const {
  const TileMemory& memory = seen().memory();
  if (address % 4 != 0 || !memory.contains(address, 4)) {
    throw MalformedInput(fmt::format("{:#x} is no word of tile {}, whose memory is {:#x} to {:#x}",
                                     address, index(id()), memory.base(),
                                     memory.base() + memory.size()));
  }
  return memory.word(address);
}

std::uint32_t TileView::supervisor_register(std::uint32_t number) const {
  return seen().supervisor_register(number);
}

std::uint32_t TileView::supervisor_pc() const { return seen().supervisor_pc(); }

WorkerView TileView::worker(std::uint32_t number) const {
  const std::uint32_t workers = seen().workers();
  if (number >= workers) {
    throw MalformedInput(
        fmt::format("tile {} has no worker {}; it has {}, from 0", index(id()), number, workers));
  }
  return seen().worker(number);
}

std::uint64_t TileView::worker_busy_cycles(std::uint32_t worker) const {
  return seen().worker_busy_cycles(worker);
}

InstructionCounts TileView::worker_instructions() const { return seen().worker_instructions(); }

}  // namespace superstep
