#pragma once

#include <functional>
#include <string>

#include "isa/program_image.h"
#include "tools/answer.h"
#include "tools/progress.h"

namespace superstep {

/// Reads and compiles one StableHLO file, `-` for standard input, and shows the stages. When the
/// program does not fit, the memory report goes to the answer and to `on_overflow` before
/// DoesNotFit is thrown.
[[nodiscard]] ProgramImage compile_file(
    const std::string& path, const MachineConfig& machine, Progress& progress, Answer& answer,
    const std::function<void(const ProgramInfo&)>& on_overflow = {},
    bool keep_exchange_plan = false);

}  // namespace superstep
