#pragma once

#include <string>
#include <vector>

#include "report/export/format.h"

namespace superstep {

/// The instructions of a window, or of a trace of level instruction, as a Kanata log.
std::vector<std::string> write_kanata(const TraceFile& trace, const ExportRequest& request,
                                      const ExportSink& sink);

}  // namespace superstep
