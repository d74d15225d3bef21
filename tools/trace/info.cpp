#include <fmt/format.h>

#include "report/text_table.h"
#include "sim/trace/trace.h"
#include "tools/trace/verbs.h"

namespace superstep {

ExitCode trace_info(const Options&, const std::vector<std::string>& files, Answer& answer) {
  const TraceSummary trace = read_trace(files[0]);
  const std::size_t columns = output_columns();
  answer.print(
      "{}{}",
      wrapped({"format " + trace.format_version, "level " + trace.level, "outcome " + trace.outcome,
               trace.complete ? "complete yes" : "complete no"},
              0, columns),
      wrapped({"module " + one_line(trace.module), "machine " + one_line(trace.machine_name),
               fmt::format("supersteps {}", trace.totals.supersteps)},
              0, columns));
  for (const auto& [key, value] : trace.provenance)
    answer.print("{}", filled(one_line(fmt::format("{}: {}", key, value)), 2, columns));
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
