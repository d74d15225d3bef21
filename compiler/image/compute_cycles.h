#pragma once

#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/tile_program.h"
#include "isa/program_image.h"

namespace superstep {

/// Sets `predicted_cycles` of compute steps: the cycles of a step's launches, with those beside
/// them, on the tile where they take longest. Exact for a tile where no data decides; see
/// vertex/timing_analysis.h.
void predict_compute(const std::vector<TileProgram>& tiles, const CodeletLibrary& library,
                     const MachineConfig& machine, ProgramInfo& info);

}  // namespace superstep
