#include "sim/chip/tile_states.h"

#include <algorithm>
#include <cstring>

namespace superstep {
namespace {

void copy_changed(const TileMemory& from, const TileMemory& to) {
  for (std::size_t page = 0; page < pages_of(from); ++page) {
    const std::span<std::byte> source = page_of(from, page), target = page_of(to, page);
    if (std::memcmp(target.data(), source.data(), source.size()) == 0) continue;
    std::memcpy(target.data(), source.data(), source.size());
  }
}

}  // namespace

std::size_t pages_of(const TileMemory& memory) {
  return (memory.size() + kStatePageBytes - 1) / kStatePageBytes;
}

std::span<std::byte> page_of(const TileMemory& memory, std::size_t page) {
  const std::size_t begin = page * kStatePageBytes;
  return {memory.data() + begin, std::min(kStatePageBytes, memory.size() - begin)};
}

void TileStates::keep() {
  StateWriter writer;
  for (std::size_t i = 0; i < tiles_.size(); ++i) tiles_.tile(i).state(writer);
  state_ = writer.written();
  codes_ = writer.codes();
  for (std::size_t i = memories_.size(); i < tiles_.size(); ++i) {
    memories_.push_back(std::make_unique<TileMemory>(tiles_.machine()));
  }
  arena_.each(tiles_.size(), 1,
              [&](std::size_t i) { copy_changed(tiles_.tile(i).memory(), *memories_[i]); });
}

void TileStates::bring_back() {
  arena_.each(tiles_.size(), 1,
              [&](std::size_t i) { copy_changed(*memories_[i], tiles_.tile(i).memory()); });
  StateReader reader(state_, codes_);
  for (std::size_t i = 0; i < tiles_.size(); ++i) tiles_.tile(i).state(reader);
}

}  // namespace superstep
