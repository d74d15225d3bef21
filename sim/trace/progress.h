#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {

/// Rows by axis that every column along it has in an open trace. Of an unfinished one whole
/// supersteps, with the tile profiles that they refer to, and the rows of other tables that are of
/// those.
[[nodiscard]] std::map<std::string_view, std::uint64_t> whole_rows(const Hdf5File& file);

/// Totals of the whole supersteps of an open trace that has them.
[[nodiscard]] TraceTotals totals_so_far(const Hdf5File& file);

/// Totals without a superstep, for the steps of an open trace.
[[nodiscard]] TraceTotals no_totals(const Hdf5File& file);

/// The steps of an open trace, with the operations that they serve.
[[nodiscard]] std::vector<StepRow> read_steps(const Hdf5File& file);

/// The events of an open trace.
[[nodiscard]] std::vector<TraceEvent> read_events(const Hdf5File& file);

}  // namespace superstep
