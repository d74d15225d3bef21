#include "tools/compile_file.h"

#include <fmt/format.h>

#include "compiler/compile.h"
#include "tools/files.h"
#include "tools/report.h"

namespace superstep {

ProgramImage compile_file(const std::string& path, const MachineConfig& machine, Progress& progress,
                          const std::function<void(const ProgramInfo&)>& on_overflow) {
  progress.stage("read      " + path);
  const Module module = import_stablehlo(read_text_file(path), path);
  ProgramInfo memory;
  try {
    return compile(
        module, machine,
        [&](std::string_view stage) { progress.stage(fmt::format("compile   {}", stage)); },
        [&](const ProgramInfo& info) { memory = info; });
  } catch (const DoesNotFit&) {
    progress.clear();
    fmt::print("{}", memory_report(memory, machine));
    if (on_overflow) on_overflow(memory);
    throw;
  }
}

}  // namespace superstep
