#pragma once

#include <functional>
#include <string>

#include "isa/program_image.h"
#include "tools/answer.h"
#include "tools/progress.h"

namespace superstep {

/// Reads and compiles one StableHLO file, `-` for standard input, and shows the stages. When the
/// program does not fit, its memory goes into the answer's document and to `on_overflow` before
/// DoesNotFit, which says it in words, is thrown.
[[nodiscard]] ProgramImage compile_file(
    const std::string& path, const MachineConfig& machine, Progress& progress, Answer& answer,
    const std::function<void(const ProgramInfo&)>& on_overflow = {},
    bool keep_exchange_plan = false);

}  // namespace superstep
