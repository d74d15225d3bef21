#include "report/validation/validation.h"

#include <stdexcept>

#include "report/validation/checks.h"
#include "report/validation/invariants.h"
#include "sim/trace/table_file.h"

namespace superstep {

Validation validate_trace(const std::filesystem::path& path) {
  Validation result;
  TraceFindings findings(path);
  SoundColumns sound;
  {
    const Hdf5File file = open_trace(path);
    guard_trace(path, [&] {
      const RootRow root = read_attributes(file, kRootAttributes);
      result.format_version = root.format_version;
      result.level = root.level;
      result.complete = root.complete;
      sound = check_structure(file, root, findings);
    });
  }
  try {
    constexpr bool kMayLack = true;  // which has been said
    const TraceFile trace(path, kMayLack);
    result.supersteps = trace.rows(kSupersteps);
    guard_trace(path, [&] {
      for (const auto check : {check_values, check_invariants, check_program, check_supersteps,
                               check_vertices, check_instructions, check_summary}) {
        check(trace, sound, findings);
      }
    });
  } catch (const UserError& error) {
    // It cannot be read at all, which has been said of what stands in the way.
    if (error.code() != ExitCode::kDamagedTrace) throw;
    for (const Problem& problem : error.problems()) {
      findings.add_failure(problem.message, std::runtime_error(problem.message));
    }
  }
  result.checked = findings.checked();
  result.problems = findings.problems();
  return result;
}

}  // namespace superstep
