#pragma once

#include "report/export/format.h"

namespace superstep {

/// Tracks over time as a trace of Perfetto (google/perfetto protos/perfetto/trace/trace.proto): the
/// program, supersteps and their phases, counters, the host's transfers, events and, at level tile,
/// tiles, at level vertex what their workers do. A nanosecond of it is a tile cycle. Beyond
/// `most_slices` the last supersteps are left out, first those of tiles.
[[nodiscard]] std::vector<std::string> write_perfetto(const TraceFile& trace,
                                                      const ExportRequest& request,
                                                      const ExportSink& sink);

}  // namespace superstep
