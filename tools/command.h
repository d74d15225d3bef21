#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "tools/options.h"

namespace superstep {

/// One subcommand of `superstep`: `options` says what it takes, `run` does it and returns the exit
/// code; user errors are thrown.
struct Command {
  const char* name;
  const char* summary;
  Options (*options)();
  ExitCode (*run)(const Options& options);
};

/// Every subcommand, in the order of the help text.
[[nodiscard]] std::span<const Command> all_commands();

/// The text of `superstep help`.
[[nodiscard]] std::string overview();

[[nodiscard]] Options run_options();
ExitCode run_command(const Options& options);
[[nodiscard]] Options compile_options();
ExitCode compile_command(const Options& options);
[[nodiscard]] Options report_options();
ExitCode report_command(const Options& options);
[[nodiscard]] Options bench_options();
ExitCode bench_command(const Options& options);
[[nodiscard]] Options config_options();
ExitCode config_command(const Options& options);
[[nodiscard]] Options asm_options();
ExitCode asm_command(const Options& options);
[[nodiscard]] Options disasm_options();
ExitCode disasm_command(const Options& options);
[[nodiscard]] Options run_codelet_options();
ExitCode run_codelet_command(const Options& options);
[[nodiscard]] Options trace_options();
ExitCode trace_command(const Options& options);
[[nodiscard]] Options docs_options();
ExitCode docs_command(const Options& options);

}  // namespace superstep
