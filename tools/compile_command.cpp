#include <fmt/format.h>

#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/progress.h"
#include "tools/report.h"

namespace superstep {

Options compile_options() {
  Options options("compile PROGRAM.mlir [options]",
                  "Compiles a StableHLO program and shows its steps and memory.",
                  {"superstep compile step.mlir -m bow"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode compile_command(const Options& options) {
  Progress progress(options.has("quiet"));
  const MachineConfig machine =
      load_machine(options.get("machine").value_or("gc200"), options.list("set"));
  const std::string& path = options.words()[0];
  const ProgramImage image = compile_file(path, machine, progress);
  progress.clear();
  fmt::print("{} on {}: {} steps, {} of {} tiles\n", image.info.module, machine.name,
             image.info.steps.size(), image.entries.size(), machine.tiles());
  for (std::size_t k = 0; k < image.arguments.size(); ++k)
    fmt::print("  arg{:<4} {}\n", k, image.arguments[k].text());
  for (std::size_t k = 0; k < image.results.size(); ++k) {
    fmt::print("  result{} {}", k, image.results[k].text());
    if (k < image.alias.size() && image.alias[k])
      fmt::print("  takes the storage of arg{}", *image.alias[k]);
    fmt::print("\n");
  }
  for (std::size_t i = 0; i < image.info.steps.size(); ++i) {
    const StepInfo& step = image.info.steps[i];
    constexpr const char* kKinds[] = {"compute", "exchange", "host"};
    fmt::print("  step {:<4} {:<9} {}{}\n", i, kKinds[static_cast<int>(step.kind)], step.name,
               step.exchange_bytes == 0 ? ""
                                        : fmt::format("  {} B, busiest port {} words",
                                                      step.exchange_bytes, step.bound_cycles));
  }
  fmt::print("{}", memory_report(image.info, machine));
  return ExitCode::kOk;
}

}  // namespace superstep
