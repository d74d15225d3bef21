#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/hdf5_file.h"
#include "sim/trace/program_schema.h"
#include "sim/trace/run_schema.h"

namespace superstep {

constexpr std::string_view kTraceFormat = "superstep-trace";
/// Readers accept every version with the same major number.
constexpr std::string_view kTraceVersion = "1.13.0";

/// Rows of the superstep columns in one chunk, and supersteps between two flushes of a long run.
constexpr std::uint64_t kSuperstepChunk = 1024;
/// The same of levels below tile, of which a superstep may have many.
constexpr std::uint64_t kDetailChunk = 16384;
/// Rows of a table of one axis to read at a time: to read some of a chunk, all of it is unpacked.
constexpr std::uint64_t rows_at_once(TraceLevel level) {
  return level >= TraceLevel::kVertex ? kDetailChunk : kSuperstepChunk;
}
/// Rows of all tiles of a Mk2 are less than the 1 MiB of chunks that HDF5 keeps at hand.
constexpr std::uint64_t kProfileChunk = 64;
/// A superstep without a tile profile: the trace reached its size limit.
constexpr std::uint32_t kNoProfile = 0xffffffff;
/// Of each text of a table that grows.
constexpr std::size_t kTextBytes = 120;

/// Every dataset of the format, in file order: what repair and documentation go by.
[[nodiscard]] std::span<const TraceColumn> trace_columns();
/// Groups, each before those inside it.
[[nodiscard]] std::span<const std::string> trace_groups();
/// The dimension scale of an axis, by path; empty for an axis of one, and for several axes.
[[nodiscard]] std::string_view scale_of(std::string_view axis);

/// Whether a dataset or a group is made when the run ends.
[[nodiscard]] bool is_of_end(std::string_view path);
/// Whether a file with these attributes has what is at `path` from a level and a format 1.`minor`
/// on; `grows`: the run adds rows to it.
[[nodiscard]] bool is_due(const RootRow& root, std::string_view path, TraceLevel level,
                          unsigned minor, bool grows);

/// One attribute of a group.
struct TraceAttribute {
  std::string_view object;
  std::string_view name;
  Hdf5Type type;
  std::string_view unit;
  std::string_view meaning;
  unsigned minor;  ///< of the format 1.x that brought it
};
[[nodiscard]] std::span<const TraceAttribute> trace_attributes();

/// A view of the data for NeXus readers: a group of links.
struct TracePlot {
  std::string_view name, title;
  std::string_view signal;     ///< path
  std::string_view auxiliary;  ///< paths of further signals, separated by spaces
  std::string_view axes;       ///< as in the column of the signal
  TraceLevel level;
};
[[nodiscard]] std::span<const TracePlot> trace_plots();

}  // namespace superstep
