#pragma once

#include <functional>
#include <vector>

#include "compiler/lower/moves/local_copies.h"
#include "compiler/lower/moves/move.h"

namespace superstep {

/// Stands for the receive buffer, which there is only once all is planned.
inline constexpr BufferId kReceived{0xffffffff};

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

/// The box of piece number `piece`, of which interval `i` of its part has all, with destinations in
/// the destination.
[[nodiscard]] Box in_destination(const Layout& destination, const Parts& parts, std::size_t piece,
                                 std::size_t i, Box box);

/// The copies that fill some intervals of `destination` with `pieces`, later ones over earlier
/// ones: each interval's plan is given to `visit`, in order. What a tile has all of is copied,
/// unless it goes through the exchange, as others do.
void plan_moves(const ProgramBuilder& builder, BufferId destination, const Parts& parts,
                const std::vector<Piece>& pieces, IntervalRange range,
                const std::function<void(std::size_t, IntervalPlan)>& visit,
                bool is_exchanged = false);

}  // namespace superstep
