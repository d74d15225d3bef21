#pragma once

#include <string>

#include "isa/program_image.h"
#include "sim/trace/trace.h"

namespace superstep {

/// The report of a run as text: cycles by part, balance, memory of the worst tile, top operations.
[[nodiscard]] std::string text_report(const TraceSummary& trace);

/// The same numbers as one JSON document.
[[nodiscard]] std::string json_report(const TraceSummary& trace);

/// Memory of the worst tile by category and the biggest tensors, as text.
[[nodiscard]] std::string memory_report(const ProgramInfo& info, const MachineConfig& machine);

}  // namespace superstep
