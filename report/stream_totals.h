#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/trace/rows.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// What one stream moves over the host link in all its transfers.
struct StreamTotals : StreamRow {
  std::uint64_t transfers = 0, moved_bytes = 0, packets = 0;
  Cycles cycles = {};  ///< from the first packet of a transfer to its last
};
/// By the stream's number; in a trace without transfers none moves anything.
[[nodiscard]] std::vector<StreamTotals> stream_totals(const TraceFile& file);

}  // namespace superstep
