#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "tools/command.h"
#include "tools/options.h"

namespace superstep {
namespace {

constexpr Command kCommands[] = {
    {"run", "compile a program, run it on a simulated machine, report", run_command},
    {"compile", "compile a program and show what it takes", compile_command},
    {"report", "show a trace as text or JSON", report_command},
    {"config", "list, check and print machines", config_command},
    {"asm", "assemble one source file", asm_command},
    {"disasm", "show machine words as assembly", disasm_command},
    {"trace", "inspect and repair trace files", trace_command},
};

void print_help() {
  fmt::print(
      "superstep: a cycle-level simulator of an IPU-class machine, for JAX programs\n\n"
      "usage: superstep COMMAND [words]\n\n"
      "examples\n"
      "  superstep run models/quickstart/affine.mlir -m tiny4 --input "
      "models/quickstart/affine_input.h5\n"
      "  superstep report run.h5 --json\n\ncommands\n");
  for (const Command& command : kCommands)
    fmt::print("  {:<10} {}\n", command.name, command.summary);
  fmt::print(
      "\nexit codes: 0 ok, 1 mismatch or trap, 2 usage, 3 regression, 4 does not fit, 5 malformed "
      "input,\n"
      "            6 unsupported, 7 damaged trace, 70 internal error, 130 interrupted\n");
}

ExitCode dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_help();
    return ExitCode::kUsage;
  }
  const std::string& name = words[0];
  if (name == "-h" || name == "--help" || name == "help") {
    print_help();
    return ExitCode::kOk;
  }
  if (name == "--version") {
    fmt::print("superstep {}\n", SUPERSTEP_VERSION);
    return ExitCode::kOk;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run({words.begin() + 1, words.end()});
    names.emplace_back(command.name);
  }
  const std::string guess = nearest(name, names);
  usage_error(fmt::format(
      "unknown command '{}'; {}", name,
      guess.empty() ? "`superstep help` lists the commands" : "did you mean '" + guess + "'?"));
}

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

}  // namespace superstep

int main(int argc, char** argv) {
  using superstep::ExitCode;
  ExitCode code = ExitCode::kInternal;
  try {
    code = superstep::dispatch({argv + 1, argv + argc});
  } catch (const superstep::UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: the host ran out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return static_cast<int>(code);
}
