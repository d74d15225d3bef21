#include <fmt/format.h>

#include "report/report.h"
#include "tools/command.h"

namespace superstep {
namespace {

std::vector<std::string> all_words(const std::vector<std::string>& words) { return words; }

/// Behind the verb.
std::vector<std::string> words_behind(const std::vector<std::string>& words) {
  return {words.begin() + 1, words.end()};
}

std::vector<std::string> words_of_report(const std::vector<std::string>& words) {
  return words[0] == "diff" ? words_behind(words) : words;
}

/// What is read of `repair` is the first.
std::vector<std::string> words_of_trace(const std::vector<std::string>& words) {
  return words.size() < 2 ? std::vector<std::string>() : std::vector{words[1]};
}

constexpr Command kCommands[] = {
    {"run", "compile a program, run it on a simulated machine, report", run_options, run_command,
     run_fields},
    {"compile", "compile a program and show its plan and memory", compile_options, compile_command,
     compile_fields},
    {"report", "show a trace, whole or as one view, or what differs between two", report_options,
     report_command, report_command_fields, words_of_report},
    {"watch", "follow a run by its trace, and show its report when it ends", watch_options,
     watch_command, report_fields, all_words},
    {"html", "write a trace, or two to compare, as a page for a browser", html_options,
     html_command, html_fields, all_words},
    {"config", "list, check and print machines", config_options, config_command, config_fields},
    {"asm", "assemble one source file", asm_options, asm_command, asm_fields},
    {"disasm", "show machine words as assembly", disasm_options, disasm_command, disasm_fields},
    {"run-codelet", "run one entry point on one tile, report cycles and slots", run_codelet_options,
     run_codelet_command, run_codelet_fields},
    {"trace", "inspect, check, export and repair traces", trace_options, trace_command,
     trace_fields, words_of_trace},
    {"bench", "compare simulated cycles with a baseline file", bench_options, bench_command,
     bench_fields},
    {"sensitivity", "show what the assumed numbers of a machine do to a program's cycles",
     sensitivity_options, sensitivity_command, sensitivity_fields},
    {"conformance", "run modules that check themselves, as StableHLO's test data do",
     conformance_options, conformance_command, conformance_fields},
    {"docs", "write the reference pages that follow from tables", docs_options, docs_command,
     docs_fields},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

std::string overview() {
  std::string text =
      "superstep: a cycle-level simulator of an IPU-class machine, for JAX programs\n\n"
      "usage: superstep COMMAND [words]\n\n"
      "A PROGRAM.mlir is StableHLO text as JAX prints it; `-` reads it from standard input.\n"
      "`run` keeps what it compiles in $XDG_CACHE_HOME/superstep/images, else ~/.cache, up to 2 "
      "GiB;\na folder that cannot be used is passed over, and --no-cache does without.\n\n"
      "examples\n"
      "  superstep run models/quickstart/affine.mlir -m tiny4 --input random:1\n"
      "  superstep run step.mlir -m bow --input train.h5 --repeat 44 -o run.h5\n"
      "  superstep report run.h5\n"
      "  superstep help run\n\n"
      "commands\n";
  for (const Command& command : kCommands)
    text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  text +=
      "  help        this text, or that of one command\n"
      "  version     the version\n\n"
      "every command takes --json\n\n"
      "exit codes\n";
  for (const ExitCodeInfo& info : exit_codes())
    text += fmt::format("  {:<4} {}\n", static_cast<int>(info.code), info.meaning);
  return text;
}

}  // namespace superstep
