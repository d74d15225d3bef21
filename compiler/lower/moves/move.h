#pragma once

#include <vector>

#include "compiler/program/box.h"
#include "compiler/program/builder.h"

namespace superstep {

/// A strided copy from a buffer; `box.to` counts elements of the destination buffer.
struct Piece {
  BufferId source{};
  Box box;
};

/// Plans the copies that fill `destination`, later pieces over earlier ones: words go straight into
/// place where both ends allow it, else into a receive buffer from which a copy vertex arranges
/// them. What each tile holds already is copied without an exchange. `ready` is when all sources
/// hold their values; the result is when the destination does.
Time move(ProgramBuilder& builder, BufferId destination, const std::vector<Piece>& pieces,
          Time ready, const Origin& origin);

}  // namespace superstep
