#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/builder.h"
#include "compiler/lower/moves/move.h"

namespace superstep {

/// Bytes to a multiple of which each packed part begins.
inline constexpr std::int64_t kPackedAlignment = 8;

/// Copies on the tiles of their sources in which elements lie in the order of their destinations,
/// so that what one tile sends to another is one run.
struct Packing {
  struct Filled {
    BufferId buffer{};
    std::vector<Piece> pieces;  ///< that fill it
  };
  std::vector<Filled> filled;
  std::vector<Piece> pieces;  ///< from these buffers to the destination
};

/// Whether packing copies no element twice.
[[nodiscard]] bool can_pack(const std::vector<Piece>& pieces);

/// Adds the buffers; nothing fills them yet.
[[nodiscard]] Packing pack(ProgramBuilder& builder, const std::vector<Piece>& pieces,
                           const Origin& origin);

}  // namespace superstep
