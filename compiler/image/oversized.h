#pragma once

#include <optional>

#include "compiler/graph/graph.h"
#include "compiler/program/program.h"
#include "isa/machine_config.h"

namespace superstep {

/// Tensors of a module that need more than the memory of all tiles, whatever their placement, as a
/// program that only holds them: its image says what does not fit, without the time that lowering
/// and scheduling such sizes would take.
[[nodiscard]] std::optional<LoweredProgram> oversized(const Module& module,
                                                      const MachineConfig& machine);

}  // namespace superstep
