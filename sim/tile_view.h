#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/units.h"
#include "sim/instruction_counts.h"
#include "sim/tile/worker_view.h"

namespace superstep {

class Tile;

/// What can be done with the tiles of a simulation where it stands.
struct TileAccess {
  std::string why_not_seen;     ///< empty when they can be looked at
  std::string why_not_changed;  ///< empty when they can be changed
  /// Called before memory is changed.
  std::function<void()> when_changed = [] {};
};

/// A tile of a simulation that stands still. Valid as long as the simulation. Its functions throw
/// UserError (usage) where the simulation stands at a cycle that cannot be looked at.
class TileView {
 public:
  /// Both outlive it.
  TileView(Tile& tile, const TileAccess& access) : tile_(&tile), access_(&access) {}

  [[nodiscard]] TileId id() const;
  /// Copies bytes of its memory out or in; false, and nothing done, when they are not all in it. It
  /// can be changed at openings and while the tiles wait for the host; elsewhere `write` throws
  /// UserError (usage).
  [[nodiscard]] bool read(std::uint32_t address, std::span<std::byte> out) const;
  [[nodiscard]] bool write(std::uint32_t address, std::span<const std::byte> in) const;
  /// The word at an aligned address of its memory; throws MalformedInput for another.
  [[nodiscard]] std::uint32_t word(std::uint32_t address) const;
  /// $m0 to $m15 of the supervisor.
  [[nodiscard]] std::uint32_t supervisor_register(std::uint32_t number) const;
  /// Of the supervisor's next instruction; while it waits at a sync for its workers, of that.
  [[nodiscard]] std::uint32_t supervisor_pc() const;
  /// Throws MalformedInput for a worker that is not there.
  [[nodiscard]] WorkerView worker(std::uint32_t number) const;
  /// Since boot: cycles of a worker from first issue to exit, over its launches.
  [[nodiscard]] std::uint64_t worker_busy_cycles(std::uint32_t worker) const;
  /// Since boot: of all its workers.
  [[nodiscard]] InstructionCounts worker_instructions() const;

 private:
  [[nodiscard]] Tile& seen() const;

  Tile* tile_;
  const TileAccess* access_;
};

}  // namespace superstep
