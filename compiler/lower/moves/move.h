#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/box.h"
#include "compiler/program/builder.h"

namespace superstep {

/// A strided copy from a buffer; `box.to` counts elements of the destination buffer, or of one of
/// its parts.
struct Piece {
  BufferId source{};
  Box box;
};

/// What a destination consists of: its intervals hold those of `layout` for one part after the
/// other, in equal distances.
struct Parts {
  LayoutPtr layout;
  std::int64_t count = 1;
  std::vector<std::uint32_t> of_piece = {};  ///< empty: there is one part
};

/// Plans the copies that fill `destination`, later pieces over earlier ones: words go straight into
/// place where both ends allow it, else into a receive buffer from which a copy vertex arranges
/// them. What each tile holds already is copied without an exchange. `ready` is when all sources
/// hold their values; the result is when the destination does.
Time move(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces,
          Time ready, const Origin& origin);
/// The same for a destination of several parts.
Time move(ProgramBuilder& builder, BufferId destination, const Parts& parts,
          const std::vector<Piece>& pieces, Time ready, const Origin& origin);

}  // namespace superstep
