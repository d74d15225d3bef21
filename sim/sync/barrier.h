#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/units.h"
#include "isa/machine_config.h"
#include "isa/sync_zones.h"

namespace superstep {

/// A tile that waits at a barrier.
struct WaitingTile {
  TileId tile{};
  Cycles cycle;
  std::uint32_t zone = 0;
  std::uint32_t pc = 0;
};

/// Index of the last tile to arrive, the lowest of several.
[[nodiscard]] std::size_t critical_of(std::span<const WaitingTile> arrivals);

/// Why these tiles can never leave together, and the index of the tile to blame; empty when all
/// wait in one zone that is modelled.
struct BarrierFault {
  std::size_t arrival = 0;
  std::string cause;
};
[[nodiscard]] std::optional<BarrierFault> check_zones(std::span<const WaitingTile> arrivals);

/// When an internal barrier opens: one sync latency after the last arrival.
[[nodiscard]] Cycles internal_opening(const MachineConfig& machine, Cycles last_arrival);

/// Nanoseconds of the host's clock as cycles of the tile clock, rounded up.
[[nodiscard]] Cycles cycles_of_ns(const MachineConfig& machine, std::uint64_t nanoseconds);

}  // namespace superstep
