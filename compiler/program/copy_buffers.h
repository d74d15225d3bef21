#pragma once

#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// A buffer whose elements go to another one of the same layout.
struct BufferCopy {
  BufferId from{}, to{};
};

/// A superstep without an exchange that copies buffers on their tiles, for an op.
[[nodiscard]] Superstep copy_buffers(LoweredProgram& program, const std::vector<BufferCopy>& copies,
                                     const Origin& origin);

}  // namespace superstep
