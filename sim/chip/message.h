#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/units.h"
#include "sim/kernel/kernel.h"
#include "sim/sync/waiting_tile.h"
#include "sim/trap.h"

namespace superstep {

/// A barrier opens: to itself, then to the tiles that wait there, and at an external one to the
/// host.
struct Opening {
  bool begins_visit = false;  ///< of the host: it lasts until the next opening
};

/// Tiles wait at a barrier: to the barrier, at the arrival of the last one.
struct BarrierArrival {
  std::uint32_t tiles = 0;
  WaitingTile last;   ///< the lowest of several
  WaitingTile first;  ///< the lowest of all
};

/// To the external barrier: the host is there as well.
struct HostArrival {};

/// To the fabric: the tiles ran as far as they can, and what their ports were told is known.
struct PortsTold {};

/// To the tiles: the words of the phase are in their memories.
struct WordsMoved {};

/// To the host: the tiles wait for a visit to begin.
struct HostAwaited {
  WaitingTile first, last;
};

/// To the host: its program has something new to do.
struct HostCall {};

/// To the trap reporter, at the trap's cycle.
struct Trapped {
  Trap trap;
};

using Message = std::variant<Opening, BarrierArrival, HostArrival, PortsTold, WordsMoved,
                             HostAwaited, HostCall, Trapped>;
using MachineKernel = Kernel<Message>;
using MachineProcess = Process<Message>;
using MachineOutbox = Outbox<Message>;

/// The processes of a chip in the order in which they handle events of one cycle.
enum class Rank : std::uint32_t { kFabric, kTiles, kBarrier, kHost };

constexpr ProcessPlace process_place(ChipId chip, Rank rank) {
  return {chip, static_cast<std::uint32_t>(rank)};
}

}  // namespace superstep
