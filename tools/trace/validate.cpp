#include "report/validation/validation.h"

#include "report/numbers.h"
#include "tools/trace/verbs.h"

namespace superstep {

ExitCode trace_validate(const Options&, const std::vector<std::string>& files, Answer& answer) {
  const Validation found = validate_trace(files[0]);
  answer.fields() = {{"format_version", found.format_version},
                     {"level", found.level},
                     {"complete", found.complete},
                     {"supersteps", found.supersteps},
                     {"checked", found.checked}};
  for (const std::string& problem : found.problems) answer.add_problem({{files[0], 0, 0}, problem});
  if (!found.problems.empty()) return ExitCode::kDamagedTrace;
  answer.print("{}: format {}, level {}, {} supersteps: keeps all of {} rules{}\n", files[0],
               found.format_version, found.level, grouped(found.supersteps), grouped(found.checked),
               found.complete ? "" : "; it is not complete, and was checked up to there");
  return ExitCode::kOk;
}

}  // namespace superstep
