#pragma once

#include "report/export/format.h"

namespace superstep {

/// Stacks of the program tree, a line each with its cycles, as flamegraph.pl of
/// brendangregg/FlameGraph takes them.
[[nodiscard]] std::vector<std::string> write_folded(const TraceFile& trace,
                                                    const ExportRequest& request,
                                                    const ExportSink& sink);

}  // namespace superstep
