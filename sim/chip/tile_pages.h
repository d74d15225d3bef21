#pragma once

#include <vector>

#include "sim/checkpoint.h"
#include "sim/chip/tile_array.h"

namespace superstep {

// Memories and code of tiles in a checkpoint.

/// Puts the pages that are not as at boot into a checkpoint.
void write_pages(TileArray& tiles, Checkpoint& checkpoint);
/// Into memories that are as at boot. Throws std::runtime_error for pages that are not there.
void read_pages(const Checkpoint& checkpoint, TileArray& tiles);

/// Puts pieces of worker code into a checkpoint, in their order.
void write_codes(const std::vector<const WorkerCode*>& codes, Checkpoint& checkpoint);
/// Throws std::runtime_error for lists that do not go together.
[[nodiscard]] std::vector<const WorkerCode*> read_codes(const Checkpoint& checkpoint,
                                                        TileArray& tiles);

}  // namespace superstep
