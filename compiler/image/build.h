#pragma once

#include <functional>

#include "compiler/graph/graph.h"
#include "compiler/program/program.h"
#include "compiler/progress.h"
#include "isa/program_image.h"

namespace superstep {

/// Memory, exchange schedules and machine code for a lowered program. Throws DoesNotFit;
/// `on_memory` then gets the memory report first. `keep_exchange_plan` fills in
/// `ProgramInfo::exchanges`. Repeated steps share code; more of them do, which costs time, if it
/// `saves_code`.
[[nodiscard]] ProgramImage build_image(const Module& module, const MachineConfig& machine,
                                       LoweredProgram program, const CompileProgress& progress,
                                       const std::function<void(const ProgramInfo&)>& on_memory,
                                       bool keep_exchange_plan, bool saves_code = false);

}  // namespace superstep
