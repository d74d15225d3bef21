#pragma once

#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// A buffer whose elements go to another one of the same layout.
struct BufferCopy {
  BufferId from{}, to{};
};

/// A superstep without an exchange that copies buffers on their tiles.
[[nodiscard]] Superstep copy_buffers(LoweredProgram& program, const std::vector<BufferCopy>& copies,
                                     const std::string& name);

}  // namespace superstep
