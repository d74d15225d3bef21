#include "tools/compile_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/files.h"
#include "base/sha256.h"
#include "compiler/compile.h"
#include "isa/image_file.h"
#include "tools/child_process.h"
#include "tools/host_memory.h"
#include "report/report.h"

namespace superstep {

void add_identity(const MachineConfig& machine, const std::vector<std::string>& overrides,
                  Answer& answer) {
  answer.fields()["machine"] = machine.name;
  answer.fields()["machine_overrides"] = overrides;
  answer.fields()["machine_sha256"] = sha256(to_toml(machine));
}

ProgramImage compile_file(const std::string& path, const SourcedMachine& machine,
                          Progress& progress, Answer& answer,
                          const std::function<void(const ProgramInfo&)>& on_overflow,
                          CompileOptions options, const ImageCache& cache,
                          const std::function<void(const Module&)>& on_module) {
  progress.stage("read      " + path);
  const bool is_stdin = path == "-";
  const std::string file = is_stdin ? "stdin" : path;
  if (!is_stdin && !std::filesystem::is_fifo(path)) check_input(path);
  const std::string text = read_text_file(is_stdin ? "/dev/stdin" : path);
  const std::string text_sha256 = sha256(text);
  answer.fields()["program_sha256"] = text_sha256;
  std::string key;
  if (cache.is_on()) {
    key = ImageCache::key({file, text, to_toml(machine.machine, machine.sources),
                           options.keep_exchange_plan ? "with exchange plan" : ""});
    if (std::optional<ProgramImage> known = cache.find(key)) return std::move(*known);
  }
  progress.stage("import    " + path);
  const Module module = import_stablehlo(text, file);
  if (on_module) on_module(module);
  ProgramInfo memory;
  keep_freed_memory();
  try {
    options.progress = [&](std::string_view stage) {
      progress.stage(fmt::format("compile   {}", stage));
    };
    options.on_memory = [&](const ProgramInfo& info) { memory = info; };
    ProgramImage image = compile(module, machine.machine, options);
    image.sources = machine.sources;
    image.info.text_sha256 = text_sha256;
    cache.keep(key, image);
    return image;
  } catch (const DoesNotFit&) {
    progress.clear();
    answer.fields()["memory"] = memory_document(memory, machine.machine);
    memory.text_sha256 = text_sha256;
    if (on_overflow) on_overflow(memory);
    throw;
  }
}

ProgramImage image_of(const Options& options, Answer& answer) {
  const std::string& path = options.words()[0];
  const std::vector<std::string> overrides = options.list("set");
  ProgramImage image = read_behind_rehearsal(path, [&] { return read_image(path, overrides); });
  const auto machine = options.get("machine");
  if (machine && load_machine(*machine, overrides) != image.machine) {
    usage_error(
        fmt::format("'{}' is compiled for {}; `superstep compile PROGRAM.mlir -m {} -o "
                    "FILE` compiles a program for another machine",
                    path, image.machine.name, *machine));
  }
  answer.fields()["program_sha256"] = image.info.text_sha256;
  return image;
}

}  // namespace superstep
