#pragma once

#include <vector>

#include "compiler/lower/move.h"

namespace superstep {

/// Axes of a box of the copy codelet.
inline constexpr std::size_t kBoxAxes = 3;
/// Stands for the receive buffer, which there is only once all is planned.
inline constexpr BufferId kReceived{0xffffffff};

/// A copy inside one tile, in bytes from the interval starts.
struct LocalCopy {
  BufferId from{};
  Box box;  ///< strides and offsets in bytes; axes count elements
  std::uint32_t round = 0;
};

/// The copies of one destination interval.
struct IntervalPlan {
  /// Words from a source interval, to the destination or, `staged`, to the receive buffer.
  struct Transfer {
    BufferId source{};
    std::size_t source_interval = 0;
    std::int64_t from = 0, to = 0;  ///< bytes
    std::int64_t words = 0;
    bool staged = false;
  };
  std::vector<Transfer> transfers;
  std::vector<LocalCopy> copies;
  std::int64_t received_words = 0;
};

/// The copies that fill each interval of `destination` with `pieces`, later ones over earlier ones.
[[nodiscard]] std::vector<IntervalPlan> plan_moves(const ProgramBuilder& builder,
                                                   BufferId destination,
                                                   const std::vector<Piece>& pieces);

/// The largest unit in bytes in which the copy codelet can move a box of bytes; its axes then count
/// such units.
[[nodiscard]] std::uint32_t in_units(Box& box, std::int64_t element_bytes);

}  // namespace superstep
