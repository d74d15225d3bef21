#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/image/storage.h"
#include "compiler/program/program.h"
#include "isa/program_image.h"

namespace superstep {

/// Fills in when and where memory is in use: `tensors`, `step_memory` and `tile_peaks` of `info`,
/// whose steps are known. `point_by_step` names the point of each step (see `Storage::entries`);
/// `fixed_by_tile` is what a tile holds beside buffers.
void describe_liveness(const LoweredProgram& program, const Storage& storage,
                       std::span<const std::uint32_t> point_by_step,
                       std::span<const std::uint32_t> fixed_by_tile, ProgramInfo& info);

}  // namespace superstep
