#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace superstep {

/// One subcommand of `superstep`. `run` gets the words after its name and returns the exit code;
/// user errors are thrown.
struct Command {
  const char* name;
  const char* summary;
  ExitCode (*run)(const std::vector<std::string>& words);
};

/// Every subcommand, in the order of the help text.
[[nodiscard]] std::span<const Command> all_commands();

ExitCode run_command(const std::vector<std::string>& words);
ExitCode compile_command(const std::vector<std::string>& words);
ExitCode report_command(const std::vector<std::string>& words);
ExitCode config_command(const std::vector<std::string>& words);
ExitCode asm_command(const std::vector<std::string>& words);
ExitCode disasm_command(const std::vector<std::string>& words);
ExitCode trace_command(const std::vector<std::string>& words);

}  // namespace superstep
