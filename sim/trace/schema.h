#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/trace/trace.h"

namespace superstep {

constexpr std::string_view kTraceFormat = "superstep-trace";
/// Readers accept every version with the same major number.
constexpr std::string_view kTraceVersion = "1.4.0";

/// Rows of the superstep columns in one chunk, and supersteps between two flushes of a long run.
constexpr std::uint64_t kSuperstepChunk = 1024;
/// Rows of all tiles of a Mk2 are less than the 1 MiB of chunks that HDF5 keeps at hand.
constexpr std::uint64_t kProfileChunk = 64;
/// A superstep without a tile profile: the trace reached its size limit.
constexpr std::uint32_t kNoProfile = 0xffffffff;

/// Steps of the trace are those of the program and, last, the code between steps.
constexpr std::string_view kControlStep = "control";
constexpr std::uint8_t kControlKind = 3;
/// Cycles of codelets follow from the instructions that are executed.
constexpr std::uint8_t kDerivedCost = 2;

/// One dataset of a trace.
struct TraceColumn {
  std::string_view path;
  Hdf5Type type;
  std::string_view axes;  ///< names, slowest first
  std::string_view unit;  ///< `1` for plain numbers, empty for text
  std::string_view meaning;
  TraceLevel level = TraceLevel::kSummary;  ///< the lowest that has it

  /// True when the run adds rows; everything else is known before or after it.
  [[nodiscard]] bool grows() const;
  [[nodiscard]] bool is_profile() const { return axes.find("profile") != std::string_view::npos; }
  /// True when the dataset gives its axis the positions: it is a dimension scale.
  [[nodiscard]] bool is_scale() const { return scale_of(axes) == path; }

  [[nodiscard]] std::string_view first_axis() const;
  /// The names of the values of an enumeration; empty for other columns.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint8_t>> names() const;

  /// The dimension scale of an axis, by path; empty for an axis of one.
  [[nodiscard]] static std::string_view scale_of(std::string_view axis);
};

/// One attribute of a group.
struct TraceAttribute {
  std::string_view object;
  std::string_view name;
  Hdf5Type type;
  std::string_view unit;
  std::string_view meaning;
};

/// The column of a path.
[[nodiscard]] const TraceColumn& trace_column(std::string_view path);

/// Layout of a dataset that does not grow.
[[nodiscard]] Hdf5Layout fixed_layout(std::string_view path, Hdf5Type type,
                                      std::vector<std::uint64_t> dims);

/// A view of the data for NeXus readers: a group of links.
struct TracePlot {
  std::string_view name, title;
  std::string_view signal;     ///< path
  std::string_view auxiliary;  ///< paths of further signals, separated by spaces
  std::string_view axes;       ///< as in the column of the signal
  TraceLevel level;
};
[[nodiscard]] std::span<const TracePlot> trace_plots();

/// Layout of a dataset that gets rows while the run lasts, but for its second axis.
[[nodiscard]] Hdf5Layout growing_layout(const TraceColumn& column);

/// The stored direction of a stream: 0 to the device, 1 to the host.
[[nodiscard]] constexpr std::uint8_t direction_of(const Stream& stream) {
  return stream.kind == Stream::Kind::kResult ? 1 : 0;
}

/// Sets an attribute of a group in the type that the schema has for it.
void set_trace_attribute(Hdf5File& file, const std::string& object, const std::string& name,
                         const Hdf5Value& value);

/// Every dataset of the format, in file order: what writer, reader, repair and documentation go by.
[[nodiscard]] std::span<const TraceColumn> trace_columns();
[[nodiscard]] std::span<const TraceAttribute> trace_attributes();
/// Groups, each before those inside it.
[[nodiscard]] std::span<const std::string_view> trace_groups();

}  // namespace superstep
