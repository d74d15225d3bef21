#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/image/allocate.h"
#include "compiler/program/program.h"
#include "compiler/progress.h"
#include "isa/machine_config.h"

namespace superstep {

/// The least multiple of `unit` that is not below `value`.
constexpr std::uint32_t align_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Where the buffers of a program are on each tile.
class Storage {
 public:
  Storage(const MachineConfig& machine, const LoweredProgram& program);

  /// Whether the data of every tile are within its room when those of region 0 begin at
  /// `data_begin[tile]`; if not, no placement will do, and `missing_bytes` has what exceeds it.
  [[nodiscard]] bool has_room(const std::vector<std::uint32_t>& data_begin);

  /// Places the buffers of all tiles, if `has_room`.
  void place(const std::vector<std::uint32_t>& data_begin, const CompileProgress& progress = {});

  /// The address of a buffer's interval on a tile that holds one.
  [[nodiscard]] std::uint32_t address(BufferId buffer, TileId tile) const {
    return addresses_[superstep::index(buffer)][superstep::index(tile)];
  }
  /// Bytes beyond the end of a tile's memory, by tile.
  [[nodiscard]] const std::vector<std::uint64_t>& missing_bytes() const { return missing_; }
  /// The entry of a tile for which there was no place, the first if there are several.
  [[nodiscard]] const std::optional<Misfit>& misfit(TileId tile) const {
    return misfits_[superstep::index(tile)];
  }
  /// Bytes of a tile that may hold data.
  [[nodiscard]] std::uint32_t room(TileId tile) const { return room_[superstep::index(tile)]; }
  /// Most bytes of a tile's data that live at once.
  [[nodiscard]] std::uint64_t live_bytes(TileId tile) const {
    return live_[superstep::index(tile)];
  }
  /// Most bytes that live at once, by tile, of buffers of one kind; results count as variables.
  [[nodiscard]] std::vector<std::uint32_t> peak_by_tile(Buffer::Kind kind) const;
  /// Buffers of tensors that a tile holds, biggest first, with their bytes there.
  [[nodiscard]] std::vector<std::pair<BufferId, std::uint32_t>> on(TileId tile) const;

  /// What a tile holds of a buffer, and when: see `Lifetime`.
  struct Entry {
    BufferId buffer{};
    StorageRequest request;
  };
  [[nodiscard]] const std::vector<Entry>& entries(TileId tile) const {
    return by_tile_[superstep::index(tile)];
  }

 private:
  const MachineConfig& machine_;
  const LoweredProgram& program_;
  std::vector<BufferId> shared_;  ///< by buffer: the first of those that share its storage
  std::vector<std::vector<Entry>> by_tile_;
  std::vector<std::uint64_t> live_;                    ///< by tile
  std::vector<std::vector<std::uint32_t>> addresses_;  ///< by buffer, tile
  std::vector<std::uint32_t> room_;
  std::vector<std::uint64_t> missing_;
  std::vector<std::optional<Misfit>> misfits_;
};

}  // namespace superstep
