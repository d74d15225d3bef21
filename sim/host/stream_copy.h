#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "isa/program_image.h"
#include "sim/tile/memory.h"

namespace superstep {

using MemoryOfTile = std::function<TileMemory&(TileId)>;

/// Copies the data of a stream from the memories of its pieces to a tensor.
void copy_to_host(const Stream& stream, const MemoryOfTile& memory_of, std::span<std::byte> tensor);

/// Copies a tensor to the pieces of a stream; what the tensor has nothing for becomes 0.
void copy_to_tiles(const Stream& stream, const MemoryOfTile& memory_of,
                   std::span<const std::byte> tensor);

}  // namespace superstep
