#pragma once

#include <span>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/storage.h"
#include "compiler/image/tile_program.h"
#include "compiler/program/program.h"
#include "isa/program_image.h"

namespace superstep {

/// What boot writes: codelets, vertex states, supervisor programs, constants.
[[nodiscard]] std::vector<Segment> segments_of(const LoweredProgram& program,
                                               std::span<const TileProgram> tiles, BufferId states,
                                               const CodeletLibrary& library,
                                               const Storage& storage);

}  // namespace superstep
