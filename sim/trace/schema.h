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

/// Rows of the superstep columns in one chunk, and supersteps between two flushes.
constexpr std::uint64_t kSuperstepChunk = 4096;
constexpr std::uint64_t kProfileChunk = 128;

/// Steps of the trace are those of the program and, last, the code between steps.
constexpr std::string_view kControlStep = "control";

/// One dataset of a trace.
struct TraceColumn {
  std::string_view path;
  Hdf5Type type;
  std::string_view axes;  ///< names, slowest first
  std::string_view unit;  ///< `1` for plain numbers, empty for text
  std::string_view meaning;
  TraceLevel level = TraceLevel::kSummary;  ///< the lowest that has it

  /// True when the run adds rows; everything else is known before or after it.
  [[nodiscard]] bool grows() const {
    return axes.starts_with("superstep") || axes.starts_with("profile");
  }
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

/// Every dataset of the format, in file order: what writer, reader, repair and documentation go by.
[[nodiscard]] std::span<const TraceColumn> trace_columns();
[[nodiscard]] std::span<const TraceAttribute> trace_attributes();
/// Groups, each before those inside it.
[[nodiscard]] std::span<const std::string_view> trace_groups();

}  // namespace superstep
