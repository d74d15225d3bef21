#pragma once

#include <array>
#include <functional>
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

/// Rows of narrow elements that follow each other in the destination; distances in bytes.
struct AppendedRows {
  BufferId from{};
  std::int64_t rows = 1, count = 1;
  std::int64_t at = 0;  ///< of the first element, from the interval's start
  std::int64_t stride = 0, row_stride = 0;
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
  std::vector<AppendedRows> appended;  ///< in place of copies, the whole interval
  std::int64_t received_words = 0;
};

/// Intervals [first, last) of a layout.
struct IntervalRange {
  std::size_t first, last;
};

/// The copies that fill some intervals of `destination` with `pieces`, later ones over earlier
/// ones: each interval's plan is given to `visit`, in order.
void plan_moves(const ProgramBuilder& builder, BufferId destination,
                const std::vector<Piece>& pieces, IntervalRange range,
                const std::function<void(std::size_t, IntervalPlan)>& visit);

/// A row of the copy codelet's table.
struct BoxRow {
  std::int64_t to = 0, from = 0;
  std::array<Axis, kBoxAxes> axes;
};

/// The rows for a box: at most three axes each.
void append_boxes(const Box& box, const std::function<void(const BoxRow&)>& visit);

/// The largest unit in bytes in which the copy codelet can move a box of bytes; its axes then count
/// such units.
[[nodiscard]] std::uint32_t in_units(Box& box, std::int64_t element_bytes);

}  // namespace superstep
