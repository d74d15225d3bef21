#pragma once

#include "report/export/format.h"

namespace superstep {

/// Stacks of the program tree as a file of speedscope (jlfwong/speedscope
/// src/lib/file-format-spec.ts).
[[nodiscard]] std::vector<std::string> write_speedscope(const TraceFile& trace,
                                                        const ExportRequest& request,
                                                        const ExportSink& sink);

}  // namespace superstep
