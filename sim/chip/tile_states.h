#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/chip/tile_array.h"
#include "sim/task_arena.h"

namespace superstep {

/// What memories are compared and kept by.
inline constexpr std::size_t kStatePageBytes = 4096;

/// The bytes of a page of a tile's memory; the last one may be shorter.
[[nodiscard]] std::span<std::byte> page_of(const TileMemory& memory, std::size_t page);
[[nodiscard]] std::size_t pages_of(const TileMemory& memory);

/// Keeps the states of all tiles of a chip, memories as well, of one time. What is the same as the
/// last time is not copied again.
class TileStates {
 public:
  /// Both outlive it.
  TileStates(TileArray& tiles, TaskArena& arena) : tiles_(tiles), arena_(arena) {}

  void keep();
  /// The tiles are as they were.
  void bring_back();

 private:
  TileArray& tiles_;
  TaskArena& arena_;
  std::vector<std::byte> state_;
  std::vector<const WorkerCode*> codes_;
  std::vector<std::unique_ptr<TileMemory>> memories_;  ///< by entry
};

}  // namespace superstep
