#include <fmt/format.h>

#include "tools/command.h"
#include "tools/report_answer.h"

namespace superstep {

Options report_options() {
  Options options("report RUN.h5 [options]",
                  "Shows a trace: cycles by part, balance, memory, top operations.",
                  {"superstep report run.h5", "superstep report run.h5 --json"});
  options.positionals(1, 1);
  return options;
}

ExitCode report_command(const Options& options, Answer& answer) {
  report(read_trace(options.words()[0]), answer);
  return ExitCode::kOk;
}

}  // namespace superstep
