#include "report/validation/validation.h"

#include <stdexcept>
#include <utility>

#include "report/validation/checks.h"
#include "report/validation/invariants.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// A level without rows of supersteps has the number of them.
std::uint64_t supersteps_of(const TraceFile& trace) {
  if (trace.has(kSupersteps)) return trace.rows(kSupersteps);
  std::uint64_t supersteps = 0;
  guard_trace(trace.path(), [&] {
    if (trace.hdf5().exists("/summary"))
      supersteps = read_attributes(trace.hdf5(), kSummaryAttributes).supersteps;
  });
  return supersteps;
}

}  // namespace

Validation validate_trace(const std::filesystem::path& path) {
  return validate_trace(path, open_trace(path));
}

Validation validate_trace(const std::filesystem::path& path, Hdf5File file) {
  Validation result;
  TraceFindings findings(path);
  SoundColumns sound;
  guard_trace(path, [&] {
    const RootRow root = read_attributes(file, kRootAttributes);
    result.format_version = root.format_version;
    result.level = root.level;
    result.complete = root.complete;
    sound = check_structure(file, root, findings);
  });
  try {
    constexpr bool kMayLack = true;  // which has been said
    const TraceFile trace(path, std::move(file), kMayLack);
    result.supersteps = supersteps_of(trace);
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
