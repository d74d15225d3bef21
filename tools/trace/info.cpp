#include "sim/trace/trace.h"
#include "tools/trace/verbs.h"

namespace superstep {

ExitCode trace_info(const Options&, const std::vector<std::string>& files, Answer& answer) {
  const TraceSummary trace = read_trace(files[0]);
  answer.print(
      "format {}  level {}  outcome {}  complete {}\nmodule {}  machine {}  supersteps {}\n",
      trace.format_version, trace.level, trace.outcome, trace.complete ? "yes" : "no", trace.module,
      trace.machine_name, trace.totals.supersteps);
  for (const auto& [key, value] : trace.provenance) answer.print("{}: {}\n", key, value);
  answer.fields() = {{"format_version", trace.format_version},
                     {"level", trace.level},
                     {"outcome", trace.outcome},
                     {"complete", trace.complete},
                     {"module", trace.module},
                     {"machine", trace.machine_name},
                     {"supersteps", trace.totals.supersteps},
                     {"provenance", trace.provenance}};
  return ExitCode::kOk;
}

ExitCode trace_schema(const Options&, const std::vector<std::string>&, Answer& answer) {
  answer.print("{}", trace_schema_markdown());
  answer.fields()["markdown"] = trace_schema_markdown();
  return ExitCode::kOk;
}

}  // namespace superstep
