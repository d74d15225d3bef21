#include "tools/compile_file.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "compiler/compile.h"
#include "base/files.h"
#include "tools/host_memory.h"
#include "tools/report.h"

namespace superstep {

void add_identity(const MachineConfig& machine, const std::vector<std::string>& overrides,
                  Answer& answer) {
  answer.fields()["machine"] = machine.name;
  answer.fields()["machine_overrides"] = overrides;
  answer.fields()["machine_sha256"] = sha256(to_toml(machine));
}

ProgramImage compile_file(const std::string& path, const MachineConfig& machine, Progress& progress,
                          Answer& answer,
                          const std::function<void(const ProgramInfo&)>& on_overflow,
                          CompileOptions options) {
  progress.stage("read      " + path);
  const bool is_stdin = path == "-";
  const std::string text = read_text_file(is_stdin ? "/dev/stdin" : path);
  const std::string text_sha256 = sha256(text);
  answer.fields()["program_sha256"] = text_sha256;
  progress.stage("import    " + path);
  const Module module = import_stablehlo(text, is_stdin ? "stdin" : path);
  ProgramInfo memory;
  keep_freed_memory();
  try {
    options.progress = [&](std::string_view stage) {
      progress.stage(fmt::format("compile   {}", stage));
    };
    options.on_memory = [&](const ProgramInfo& info) { memory = info; };
    ProgramImage image = compile(module, machine, options);
    image.info.text_sha256 = text_sha256;
    return image;
  } catch (const DoesNotFit&) {
    progress.clear();
    answer.fields()["memory"] = memory_document(memory, machine);
    memory.text_sha256 = text_sha256;
    if (on_overflow) on_overflow(memory);
    throw;
  }
}

}  // namespace superstep
