#include <fmt/format.h>

#include <algorithm>

#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/numbers.h"
#include "tools/progress.h"
#include "tools/report.h"

namespace superstep {
namespace {

/// The steps of a call: what is done, for which operation, and how much.
std::string plan(const std::vector<StepInfo>& steps) {
  constexpr const char* kKinds[] = {"compute", "exchange", "host"};
  std::size_t width = 24;
  std::uint64_t flops = 0, bytes = 0, words = 0;
  for (const StepInfo& step : steps) {
    width = std::max(width, step.name.size() + 2);
    flops += step.flops;
    bytes += step.exchange_bytes;
    words += step.bound_cycles;
  }
  std::string out = fmt::format("{:<6}{:<10}{:<{}}{:>14}{:>16}{:>14}  {}\n", "step", "kind", "name",
                                width, "flop", "exchange bytes", "busiest port", "source");
  const auto number = [](std::uint64_t n) { return n == 0 ? std::string() : grouped(n); };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepInfo& step = steps[i];
    out += fmt::format("{:<6}{:<10}{:<{}}{:>14}{:>16}{:>14}  {}\n", i,
                       kKinds[static_cast<std::size_t>(step.kind)], step.name, width,
                       number(step.flops), number(step.exchange_bytes), number(step.bound_cycles),
                       step.source.text());
  }
  return out + fmt::format("{:<16}{:<{}}{:>14}{:>16}{:>14}  {}\n", "sum", "", width, number(flops),
                           number(bytes), number(words), "(words: a lower bound of exchange)");
}

}  // namespace

Options compile_options() {
  Options options(
      "compile PROGRAM.mlir [options]",
      "Compiles a StableHLO program and shows its plan and the memory of the worst tile.",
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
  fmt::print("{} on {} ({} of {} tiles, {:.3f} GHz)\n", image.info.module, machine.name,
             image.entries.size(), machine.tiles(),
             static_cast<double>(machine.tile.clock_hz) / 1e9);
  for (std::size_t k = 0; k < image.arguments.size(); ++k)
    fmt::print("  {:<10}{}\n", fmt::format("arg{}", k), image.arguments[k].text());
  for (std::size_t k = 0; k < image.results.size(); ++k) {
    const bool aliased = k < image.alias.size() && image.alias[k];
    fmt::print("  {:<10}{}{}\n", fmt::format("result{}", k), image.results[k].text(),
               aliased ? fmt::format("  in the place of arg{}", *image.alias[k]) : "");
  }
  fmt::print("{}", plan(image.info.steps));
  fmt::print("{}", memory_report(image.info, machine));
  return ExitCode::kOk;
}

}  // namespace superstep
