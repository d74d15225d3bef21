#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "isa/program_image.h"
#include "tools/answer.h"
#include "tools/progress.h"

namespace superstep {

/// Says in the document which machine a command works with.
void add_identity(const MachineConfig& machine, const std::vector<std::string>& overrides,
                  Answer& answer);

/// Reads and compiles one StableHLO file, `-` for standard input, and shows the stages. When the
/// program does not fit, its memory goes into the answer's document and to `on_overflow` before
/// DoesNotFit, which says it in words, is thrown. `options` may ask for more than progress and
/// memory.
[[nodiscard]] ProgramImage compile_file(
    const std::string& path, const MachineConfig& machine, Progress& progress, Answer& answer,
    const std::function<void(const ProgramInfo&)>& on_overflow = {}, CompileOptions options = {});

}  // namespace superstep
