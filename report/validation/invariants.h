#pragma once

#include <string>

#include "report/validation/findings.h"
#include "report/validation/structure.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// What columns of a trace have to do with one another: tables, of which each row is a rule. Rules
/// of columns that are not sound, or that the file lacks, are left out.
void check_invariants(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);

/// The same as Markdown, for the documentation of traces.
[[nodiscard]] std::string invariants_markdown();

}  // namespace superstep
