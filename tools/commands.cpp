#include <fmt/format.h>

#include "tools/command.h"

namespace superstep {
namespace {

constexpr Command kCommands[] = {
    {"run", "compile a program, run it on a simulated machine, report", run_options, run_command},
    {"compile", "compile a program and show its plan and memory", compile_options, compile_command},
    {"report", "show a trace as text or JSON", report_options, report_command},
    {"config", "list, check and print machines", config_options, config_command},
    {"asm", "assemble one source file", asm_options, asm_command},
    {"disasm", "show machine words as assembly", disasm_options, disasm_command},
    {"run-codelet", "run one entry point on one tile, report cycles and slots", run_codelet_options,
     run_codelet_command},
    {"trace", "inspect and repair trace files", trace_options, trace_command},
    {"bench", "compare simulated cycles with a baseline file", bench_options, bench_command},
    {"docs", "write the reference pages that follow from tables", docs_options, docs_command},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

std::string overview() {
  std::string text =
      "superstep: a cycle-level simulator of an IPU-class machine, for JAX programs\n\n"
      "usage: superstep COMMAND [words]\n\n"
      "examples\n"
      "  superstep run models/quickstart/affine.mlir -m tiny4 --input random:1\n"
      "  superstep run step.mlir -m bow --input train.h5 --repeat 44 -o run.h5\n"
      "  superstep report run.h5\n"
      "  superstep help run\n\n"
      "commands\n";
  for (const Command& command : kCommands)
    text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  text +=
      "  help        this text, or that of one command\n\n"
      "exit codes\n"
      "  0    ok\n"
      "  1    a result differs from what was expected, or the program trapped\n"
      "  2    wrong command line\n"
      "  3    cycles differ from the baseline\n"
      "  4    the program does not fit into tile memory\n"
      "  5    malformed input: program, machine file, tensors, assembly\n"
      "  6    the program uses what Superstep does not support\n"
      "  7    damaged or foreign trace file\n"
      "  70   internal error\n"
      "  130  interrupted\n";
  return text;
}

}  // namespace superstep
