#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/hdf5_file.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {

/// How a run ended, for the finished trace.
struct TraceEnd {
  std::string outcome;
  std::string trap;
  Provenance provenance;
};

/// Gives a dataset the attributes that the schema has for it: unit, meaning and axes.
void describe_dataset(Hdf5File& file, const std::string& path);

/// Rows that every superstep column of an open trace has, with the tile profiles they refer to.
[[nodiscard]] std::uint64_t complete_rows(const Hdf5File& file);

/// Totals of the first `rows` supersteps of an open trace of level superstep or tile.
[[nodiscard]] TraceTotals totals_of(const Hdf5File& file, std::uint64_t rows);

/// The level of an open trace; empty when it has none of ours.
[[nodiscard]] std::optional<TraceLevel> level_of(const Hdf5File& file);

/// What /program/step of an open trace says of each step.
[[nodiscard]] std::vector<StepGroup> group_by_step(const Hdf5File& file);

/// The events of an open trace.
[[nodiscard]] std::vector<TraceEvent> read_events(const Hdf5File& file);

/// Copies an unfinished trace to a finished one, column by column in schema order: equal contents
/// make equal files.
void repack_trace(const Hdf5File& part, const TraceTotals& totals, const TraceEnd& end,
                  const TraceReport& report, const std::filesystem::path& out);

}  // namespace superstep
