#include <fmt/format.h>

#include <filesystem>

#include "base/output_file.h"
#include "report/numbers.h"
#include "report/report.h"
#include "sim/trace/trace.h"
#include "tools/outputs.h"
#include "tools/trace/verbs.h"

namespace superstep {
namespace {

[[noreturn]] void refuse_finished(const std::string& trace) {
  throw UserError(ExitCode::kUsage,
                  {{{trace, 0, 0},
                    "is a finished trace: there is nothing to repair, and no file is written; "
                    "`superstep trace validate` says whether it is damaged"}});
}

/// An earlier run may have written it.
[[noreturn]] void refuse_to_replace(const std::string& part, const std::string& out) {
  throw UserError(
      ExitCode::kUsage,
      {{{out, 0, 0},
        fmt::format("is there already: name the file to write, as in `superstep trace repair {} "
                    "REPAIRED.h5`, or {} to replace it",
                    part, out)}});
}

}  // namespace

ExitCode trace_repair(const Options&, const std::vector<std::string>& files, Answer& answer) {
  const std::string& part = files[0];
  const bool is_out_named = files.size() == 2;
  if (!is_out_named && !part.ends_with(".part")) {
    if (read_trace(part).complete) refuse_finished(part);
    usage_error(fmt::format("{} does not end in .part: name the file to write", part));
  }
  const std::string out = is_out_named ? files[1] : part.substr(0, part.size() - 5);
  if (!is_out_named && std::filesystem::exists(out)) refuse_to_replace(part, out);
  check_outputs({{"the trace to repair", part}},
                {{"the repaired trace", out}, {"its lock", lock_beside(out), true}});
  if (!repair_trace(part, out, json_report)) refuse_finished(part);
  const TraceSummary trace = read_trace(out);
  answer.print("{}: {} supersteps, {} cycles\n", out, grouped(trace.totals.supersteps),
               grouped(trace.totals.cycles));
  answer.fields() = {{"file", out},
                     {"supersteps", trace.totals.supersteps},
                     {"cycles", trace.totals.cycles.value()}};
  return ExitCode::kOk;
}

}  // namespace superstep
