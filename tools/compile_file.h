#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "isa/program_image.h"
#include "tools/answer.h"
#include "tools/image_cache.h"
#include "tools/options.h"
#include "tools/progress.h"

namespace superstep {

/// The machine of a command without -m.
constexpr const char* kDefaultMachine = "gc200";

/// Says in the document which machine a command works with.
void add_identity(const MachineConfig& machine, const std::vector<std::string>& overrides,
                  Answer& answer);

/// Reads and compiles one StableHLO file, `-` for standard input, and shows the stages. When the
/// program does not fit, its memory goes into the answer's document and to `on_overflow` before
/// DoesNotFit, which says it in words, is thrown. A module that is compiled goes to `on_module` in
/// front of that. `options` may ask for more than progress and
/// memory; what is asked for before the image is there is not asked for with a `cache`, from which
/// the image may come.
[[nodiscard]] ProgramImage compile_file(
    const std::string& path, const SourcedMachine& machine, Progress& progress, Answer& answer,
    const std::function<void(const ProgramInfo&)>& on_overflow = {}, CompileOptions options = {},
    const ImageCache& cache = {}, const std::function<void(const Module&)>& on_module = {});

/// The compiled program in the HDF5 file that the command line names, with what its `--set`s change
/// of the machine that it was compiled for. Throws UserError (usage) for a `-m`.
[[nodiscard]] ProgramImage image_of(const Options& options, Answer& answer);

}  // namespace superstep
