#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace_file.h"

namespace superstep {

/// Supersteps `first` .. `end` - 1, by their numbers.
struct SuperstepWindow {
  std::uint64_t first = 0, end = UINT64_MAX;
};

/// What stacks weigh.
enum class StackWeight : std::uint8_t {
  kCritical,  ///< cycles of the critical path: they add up to the length of the run
  kWork,      ///< compute cycles, added up over tiles
};

/// What of a trace goes out. A format looks at the members that its `options` name.
struct ExportRequest {
  std::optional<SuperstepWindow> window;            ///< all supersteps without one
  std::optional<std::vector<std::uint32_t>> tiles;  ///< without any, the most critical ones
  StackWeight weight = StackWeight::kCritical;
  std::string table = "supersteps";
  std::uint64_t most_slices = 2'000'000;
};

/// Takes the bytes of an export, one piece after the other.
using ExportSink = std::function<void(std::string_view)>;

/// A format that traces can be exported to.
struct ExportFormat {
  std::string_view name, meaning;
  bool is_text;
  std::string_view options;  ///< of the command line that it looks at, separated by spaces
  /// Gives the export to `sink`, the same bytes for the same trace, and returns what it leaves out:
  /// a sentence each. Throws UserError (usage) for what the trace does not have.
  std::vector<std::string> (*write)(const TraceFile& trace, const ExportRequest& request,
                                    const ExportSink& sink);
};

/// Every format; adding one is a file and a row.
[[nodiscard]] std::span<const ExportFormat> export_formats();

/// Rows of /supersteps in a window, by their place in the table.
struct SuperstepRows {
  std::uint64_t first = 0, count = 0;
};

/// Those of a window, or all. Throws UserError (usage) where the trace has no supersteps at its
/// level, or none of the window.
[[nodiscard]] SuperstepRows rows_in(const TraceFile& trace,
                                    const std::optional<SuperstepWindow>& window);

/// Refuses what a trace of its level does not hold: `what` is named, and the level that has it.
[[noreturn]] void not_at_level(const TraceFile& trace, std::string_view what, TraceLevel level);

}  // namespace superstep
