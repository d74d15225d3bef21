#include <fmt/format.h>

#include "sim/trace/trace.h"
#include "tools/command.h"
#include "report/numbers.h"
#include "tools/outputs.h"
#include "report/report.h"

namespace superstep {

std::span<const AnswerField> trace_fields() {
  static constexpr AnswerField kFields[] = {
      {"file", "text", "", "repair: the trace that was written"},
      {"cycles", "integer", "cycle", "repair"},
      {"supersteps", "integer", "", "repair, info"},
      {"format_version", "text", "", "info"},
      {"level", "text", "", "info: summary, superstep or tile"},
      {"outcome", "text", "", "info: ok, trap, interrupted, oom or running"},
      {"complete", "boolean", "", "info: the file is finished, with the totals of what ran"},
      {"module", "text", "", "info"},
      {"machine", "text", "", "info"},
      {"provenance", "object", "", "info: what may differ between equal runs"},
      {"markdown", "text", "", "schema: every dataset, as a table"},
  };
  return kFields;
}

Options trace_options() {
  Options options("trace repair RUN.h5.part [OUT.h5] | info RUN.h5 | schema",
                  "Inspects and repairs trace files.",
                  {"superstep trace repair run.h5.part", "superstep trace info run.h5"});
  options.positionals(1, 3);
  return options;
}

ExitCode trace_command(const Options& options, Answer& answer) {
  const std::string& verb = options.words()[0];
  const std::size_t rest = options.words().size() - 1;
  if (verb == "repair") {
    if (rest == 0) usage_error("trace repair takes the .part file, and the file to write");
    const std::string& part = options.words()[1];
    if (rest == 1 && !part.ends_with(".part"))
      usage_error(fmt::format("{} does not end in .part: name the file to write", part));
    const std::string out = rest == 2 ? options.words()[2] : part.substr(0, part.size() - 5);
    check_outputs({{"the trace to repair", part}}, {{"the repaired trace", out}});
    if (!repair_trace(part, out, json_report)) {
      answer.print("{}: is a finished trace, there is nothing to repair; {} is not written\n", part,
                   out);
      return ExitCode::kOk;
    }
    const TraceSummary trace = read_trace(out);
    answer.print("{}: {} supersteps, {} cycles\n", out, grouped(trace.totals.supersteps),
                 grouped(trace.totals.cycles));
    answer.fields() = {{"file", out},
                       {"supersteps", trace.totals.supersteps},
                       {"cycles", trace.totals.cycles.value()}};
    return ExitCode::kOk;
  }
  if (verb == "info") {
    if (rest != 1) usage_error("trace info takes one trace");
    const TraceSummary trace = read_trace(options.words()[1]);
    answer.print(
        "format {}  level {}  outcome {}  complete {}\nmodule {}  machine {}  supersteps {}\n",
        trace.format_version, trace.level, trace.outcome, trace.complete ? "yes" : "no",
        trace.module, trace.machine_name, trace.totals.supersteps);
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
  if (verb == "schema") {
    if (rest != 0) usage_error("trace schema takes no further word");
    answer.print("{}", trace_schema_markdown());
    answer.fields()["markdown"] = trace_schema_markdown();
    return ExitCode::kOk;
  }
  const std::string guess = nearest(verb, {"repair", "info", "schema"});
  usage_error(fmt::format(
      "unknown verb '{}'{}", verb,
      guess.empty() ? "; use repair, info or schema" : "; did you mean '" + guess + "'?"));
}

}  // namespace superstep
