#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "isa/machine_config.h"
#include "isa/program_image.h"

namespace superstep {

class PlacementCache;

struct TransferEnd {
  TileId tile{};
  std::uint32_t address = 0;
};

/// `words` contiguous 32-bit words from one tile to one or more (multicast; may include the
/// sender). Addresses are 4-byte aligned.
struct Transfer {  // NOLINT(bugprone-exception-escape): the move of a small_vector throws nothing
  TransferEnd source;
  boost::container::small_vector<TransferEnd, 1> destinations;
  std::uint32_t words = 0;
  /// Transfers that move one thing, as to one buffer: they are planned together.
  std::uint32_t collective = 0;
};

/// The supervisor code of one tile for one phase: from its `sync INTERNAL` to the end of its row,
/// ready to fall through. Position independent and free of registers, but it must be placed at an
/// 8-byte boundary; the number of words is even.
struct ExchangeRow {
  TileId tile{};
  std::vector<std::uint32_t> code;
};

struct ExchangePhase {
  std::vector<ExchangeRow> rows;          ///< ascending tiles; one for each of `participants`
  Cycles length;                          ///< from the barrier's opening to the last event
  std::uint64_t bound_cycles = 0;         ///< in which the busiest port sends or receives
  std::vector<ExchangeMessage> messages;  ///< by source and start, if asked for
};

/// Schedules one phase statically and encodes every participant's row (a participant without
/// transfers only syncs). No destination may overlap what the same tile sends in the phase: whether
/// the old or the new word leaves would depend on the schedule (the simulator traps).
[[nodiscard]] ExchangePhase schedule_exchange(const MachineConfig& machine,
                                              std::span<const Transfer> transfers,
                                              std::span<const TileId> participants,
                                              PlacementCache& cache, bool list_messages = false);
[[nodiscard]] ExchangePhase schedule_exchange(const MachineConfig& machine,
                                              std::span<const Transfer> transfers,
                                              std::span<const TileId> participants);

/// Rows of one host phase: `sync` external, the words each tile sends to the host (in this order)
/// while its mux selects the host, as it does from then on, `sync` external.
struct HostSend {
  TileId tile{};
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;  ///< a multiple of 4
};
[[nodiscard]] std::vector<ExchangeRow> encode_host_phase(const MachineConfig& machine,
                                                         std::span<const HostSend> sends,
                                                         std::span<const TileId> participants);

}  // namespace superstep
