#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compiler/schedule/placement_cache.h"
#include "compiler/schedule/schedule.h"

namespace superstep {

/// The exchange stage of a compile: from the placed transfers of all phases to the rows of all
/// tiles. What was scheduled once is not scheduled again, also when buffers have moved.
class PhaseScheduler {
 public:
  using TransfersOf = std::function<std::vector<Transfer>(std::size_t phase)>;

  PhaseScheduler(const MachineConfig& machine, std::span<const TileId> participants,
                 bool list_messages)
      : machine_(machine), participants_(participants), list_messages_(list_messages) {}

  /// Phases of the numbers below `count`, without rows where nothing moves. They are made by all
  /// threads, and do not depend on how many there are.
  [[nodiscard]] std::vector<ExchangePhase> schedule(std::size_t count,
                                                    const TransfersOf& transfers_of);

 private:
  const MachineConfig& machine_;
  std::span<const TileId> participants_;
  bool list_messages_;
  PlacementCache cache_;
};

}  // namespace superstep
