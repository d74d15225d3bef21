#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/answer.h"
#include "tools/options.h"

namespace superstep {

/// One subcommand of `superstep`: `options` says what it takes, `run` does it, gives its answer and
/// returns the exit code; user errors are thrown.
struct Command {
  const char* name;
  const char* summary;
  Options (*options)();
  ExitCode (*run)(const Options& options, Answer& answer);
  /// The command's own fields of the document that `--json` gives.
  std::span<const AnswerField> (*fields)();
  /// The traces among its words, of a command that does nothing but read them: it runs in a process
  /// of its own.
  std::vector<std::string> (*traces)(const std::vector<std::string>& words) = nullptr;
};

/// Every subcommand, in the order of the help text.
[[nodiscard]] std::span<const Command> all_commands();

/// The text of `superstep help`.
[[nodiscard]] std::string overview();

[[nodiscard]] Options run_options();
ExitCode run_command(const Options& options, Answer& answer);
/// Those of `run`; `report` has the same but for what only a run knows, and its views.
[[nodiscard]] std::span<const AnswerField> run_fields();
[[nodiscard]] Options compile_options();
ExitCode compile_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> compile_fields();
[[nodiscard]] Options report_options();
ExitCode report_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> report_command_fields();
[[nodiscard]] Options html_options();
ExitCode html_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> html_fields();
[[nodiscard]] Options watch_options();
ExitCode watch_command(const Options& options, Answer& answer);
[[nodiscard]] Options bench_options();
ExitCode bench_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> bench_fields();
[[nodiscard]] Options config_options();
ExitCode config_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> config_fields();
[[nodiscard]] Options asm_options();
ExitCode asm_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> asm_fields();
[[nodiscard]] Options disasm_options();
ExitCode disasm_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> disasm_fields();
[[nodiscard]] Options run_codelet_options();
ExitCode run_codelet_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> run_codelet_fields();
[[nodiscard]] Options trace_options();
ExitCode trace_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> trace_fields();
[[nodiscard]] Options sensitivity_options();
ExitCode sensitivity_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> sensitivity_fields();
[[nodiscard]] Options conformance_options();
ExitCode conformance_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> conformance_fields();
[[nodiscard]] Options docs_options();
ExitCode docs_command(const Options& options, Answer& answer);
[[nodiscard]] std::span<const AnswerField> docs_fields();

}  // namespace superstep
