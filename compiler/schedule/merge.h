#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace superstep {

/// The transfers of a phase in as few sends as possible: those of a sender follow each other, and
/// among them those of one collective to the same tiles.
struct MergedTransfers {
  struct Send {
    std::uint32_t address = 0;
    std::uint32_t words = 0;
    std::uint32_t collective = 0;
    std::uint32_t order = 0;      ///< position of its first part in the given list
    std::uint32_t first_end = 0;  ///< in `ends`
    std::uint32_t end_count = 0;
    std::uint32_t tiles = 0;  ///< equal for equal destination tiles
  };

  std::vector<Send> sends;
  std::vector<std::uint32_t> first_send;  ///< by sender, and the number of sends
  std::vector<bool> ways_differ;  ///< by sender: no two sends are alike in collective and tiles
  std::vector<TransferEnd> ends;  ///< of one send: ascending tiles

  [[nodiscard]] std::span<const Send> of(std::uint32_t sender) const {
    return std::span(sends).subspan(first_send[sender],
                                    first_send[sender + 1] - first_send[sender]);
  }
  [[nodiscard]] std::span<const TransferEnd> ends_of(const Send& send) const {
    return std::span(ends).subspan(send.first_end, send.end_count);
  }
};

/// Which transfers of one source range may become one multicast: those of a collective (of all,
/// where a sender would take longer than every receiver), or all.
enum class Joined : std::uint8_t { kCollectives, kAll };

/// Joins what continues in source and every destination, makes multicasts and drops what would not
/// move. A transfer to its own sender within one memory block is cut so that no piece is read while
/// it is written.
[[nodiscard]] MergedTransfers merge_transfers(const MachineConfig& machine,
                                              std::span<const Transfer> transfers, Joined joined);

/// The memory block of an address that a send and a receive of one cycle must not share: an
/// interleaved pair of region 1, an element of another region.
[[nodiscard]] std::uint32_t memory_block(const MachineConfig& machine, std::uint32_t address);

}  // namespace superstep
