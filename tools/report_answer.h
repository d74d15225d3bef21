#pragma once

#include "report/text_style.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_file.h"
#include "tools/answer.h"

namespace superstep {

/// Gives the report of a run as a command's answer; `file` as `text_report` has it.
void report(const TraceSummary& trace, Answer& answer,
            const TextStyle& style = TextStyle::of_output(), const TraceFile* file = nullptr);

}  // namespace superstep
