#pragma once

#include <filesystem>
#include <string>

#include "base/hdf5_file.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {

/// How a run ended, for the finished trace.
struct TraceEnd {
  std::string outcome;
  std::string trap, trap_kind;
  Provenance provenance;
};

/// Copies an unfinished trace to a finished one, column by column in schema order: equal contents
/// make equal files.
void repack_trace(const Hdf5File& part, const TraceTotals& totals, const TraceEnd& end,
                  const TraceReport& report, const std::filesystem::path& out);

}  // namespace superstep
