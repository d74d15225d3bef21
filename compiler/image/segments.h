#pragma once

#include <span>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/storage.h"
#include "compiler/image/tile_program.h"
#include "compiler/program/program.h"
#include "isa/program_image.h"

namespace superstep {

/// Where the codelets of a program are.
[[nodiscard]] std::vector<CodeletPlace> codelet_places(std::span<const TileProgram> tiles);

/// What boot writes: codelets, vertex states, supervisor programs, constants.
[[nodiscard]] std::vector<Segment> segments_of(const LoweredProgram& program,
                                               std::span<const TileProgram> tiles, BufferId states,
                                               const CodeletLibrary& library,
                                               const Storage& storage);

}  // namespace superstep
