#pragma once

#include "sim/trace/trace.h"
#include "tools/answer.h"

namespace superstep {

/// Gives the report of a run as a command's answer.
void report(const TraceSummary& trace, Answer& answer);

}  // namespace superstep
