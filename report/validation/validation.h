#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/hdf5_file.h"

namespace superstep {

/// What became of a check of a trace.
struct Validation {
  std::string format_version, level;
  bool complete = false;
  std::uint64_t supersteps = 0, checked = 0;  ///< checked: rules
  /// A sentence for each rule that is broken: the first place, by dataset and row, and how many
  /// there are more. Empty for a trace that is in order.
  std::vector<std::string> problems;
};

/// Checks all that a trace of its format and level has by docs/trace.md: names, types, units, axes
/// and their scales, ranges, order, and that what adds up does. Of an unfinished one, what there is
/// of whole supersteps. Throws UserError (damaged trace) for a file that is none of ours.
[[nodiscard]] Validation validate_trace(const std::filesystem::path& path);
/// The same of one that is open, whatever is at `path` now.
[[nodiscard]] Validation validate_trace(const std::filesystem::path& path, Hdf5File file);

}  // namespace superstep
