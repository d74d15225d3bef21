#include <fmt/format.h>

#include "tools/command.h"
#include "tools/report.h"

namespace superstep {

Options report_options() {
  Options options("report RUN.h5 [options]",
                  "Shows a trace: cycles by part, balance, memory, top operations.",
                  {"superstep report run.h5", "superstep report run.h5 --json"});
  options.flag("json", "one JSON document").positionals(1, 1);
  return options;
}

ExitCode report_command(const Options& options) {
  const TraceSummary summary = read_trace(options.words()[0]);
  fmt::print("{}", options.has("json") ? json_report(summary) : text_report(summary));
  return ExitCode::kOk;
}

}  // namespace superstep
