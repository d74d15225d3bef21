#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// Something of a run that is worth a look, with the numbers that say so.
struct Insight {
  std::string_view rule;  ///< of `insight_rules`
  std::string found;      ///< what is so, with its numbers
  std::string advice;     ///< what to try
  std::string operation;  ///< that it is most about, or empty
  Cycles cycles;          ///< that would go at most if it were not so; 0 where that is not known
};

/// One rule.
struct InsightRule {
  std::string_view name, meaning;
  /// `file` is that of the trace, or none of a run that has none open.
  void (*find)(const TraceSummary& trace, const TraceFile* file, std::vector<Insight>& insights);
  bool reads_worker_runs = false;  ///< all of /vertices, a second for half a million
};
/// All, in the order of the documentation.
[[nodiscard]] const std::vector<InsightRule>& insight_rules();

/// What the rules find, most cycles first. Of a run without supersteps nothing but its memory.
/// Some rules need, or say more with, the file of the trace and the tables of its level. Those that
/// read worker runs are left out where there are more than `most_worker_runs`.
[[nodiscard]] std::vector<Insight> insights_of(
    const TraceSummary& trace, const TraceFile* file = nullptr,
    std::uint64_t most_worker_runs = std::numeric_limits<std::uint64_t>::max());

}  // namespace superstep
