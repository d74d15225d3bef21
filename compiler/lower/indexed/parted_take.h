#pragma once

#include <cstdint>

#include "compiler/lower/indexed/placed_table.h"

namespace superstep {

/// The share of a tile's memory that what is gathered of a table may take [assumed].
inline constexpr std::int64_t kGatheredShare = 4;

/// A take from a table that is cut by position: parts of it are gathered on tiles that each serve
/// some of the offsets, zeros where a part has not the position, and combined.
void lower_parted_take(BlockLowering& block, const Op& op, const PlacedTable& placed,
                       const StoredValue& table);

}  // namespace superstep
