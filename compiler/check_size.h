#pragma once

#include <cstdint>
#include <functional>

#include "compiler/graph/graph.h"
#include "isa/machine_config.h"
#include "isa/program_image.h"

namespace superstep {

/// What a module has gone through. Before them only arguments, results and constants count, since
/// the others may become something else, and only where they are much for the host too.
enum class Passes : std::uint8_t { kNone, kAll };

/// Throws DoesNotFit for a module whose arguments, or one of whose tensors, need more than the
/// memory of all tiles, whatever their placement: without the time that lowering such sizes would
/// take. `on_memory` gets what they need first.
void check_size(const Module& module, const MachineConfig& machine, Passes done,
                const std::function<void(const ProgramInfo&)>& on_memory);

}  // namespace superstep
