#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/hdf5_file.h"
#include "sim/trace/trace.h"

namespace superstep {

constexpr std::string_view kTraceFormat = "superstep-trace";
/// Readers accept every version with the same major number.
constexpr std::string_view kTraceVersion = "1.0.0";

/// Rows of the superstep columns in one chunk, and supersteps between two flushes of a long run.
constexpr std::uint64_t kSuperstepChunk = 1024;
constexpr std::uint64_t kProfileChunk = 128;
/// A superstep without a tile profile: the trace reached its size limit.
constexpr std::uint32_t kNoProfile = 0xffffffff;

/// Steps of the trace are those of the program and, last, the code between steps.
constexpr std::string_view kControlStep = "control";
constexpr std::uint8_t kControlKind = 3;

/// One dataset of a trace.
struct TraceColumn {
  std::string_view path;
  Hdf5Type type;
  std::string_view axes;  ///< names, slowest first
  std::string_view unit;  ///< `1` for plain numbers, empty for text
  std::string_view meaning;
  TraceLevel level = TraceLevel::kSummary;  ///< the lowest that has it

  /// True when the run adds rows; everything else is known before or after it.
  [[nodiscard]] bool grows() const { return axes.starts_with("superstep") || is_profile(); }
  [[nodiscard]] bool is_profile() const { return axes.find("profile") != std::string_view::npos; }
  /// True when the dataset gives its axis the positions: it is a dimension scale.
  [[nodiscard]] bool is_scale() const { return scale_of(axes) == path; }

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

/// Layout of a dataset that does not grow, with the names of its values if it is an enumeration.
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

/// Every dataset of the format, in file order: what writer, reader, repair and documentation go by.
[[nodiscard]] std::span<const TraceColumn> trace_columns();
[[nodiscard]] std::span<const TraceAttribute> trace_attributes();
/// Groups, each before those inside it.
[[nodiscard]] std::span<const std::string_view> trace_groups();

}  // namespace superstep
