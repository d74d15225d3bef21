#pragma once

#include "report/validation/findings.h"
#include "report/validation/structure.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace_file.h"

namespace superstep {

// Checks of values. Each leaves out what needs columns that are not sound.

/// Numbers of rows, values of enumerations.
void check_values(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);
/// What is known before a run: program, memory, exchange plan.
void check_program(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);
/// Supersteps, their launches, transfers and rows of tiles.
void check_supersteps(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);
/// What workers did, against the rows of tiles.
void check_vertices(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);
/// Instructions, against the workers that issue them.
void check_instructions(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);
/// The summary, against what it sums up.
void check_summary(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings);

}  // namespace superstep
