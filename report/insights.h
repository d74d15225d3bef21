#pragma once

#include <cstdint>
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
};
/// All, in the order of the documentation.
[[nodiscard]] const std::vector<InsightRule>& insight_rules();

/// What the rules find, most cycles first. Of a run without supersteps nothing but its memory.
/// Some rules need, or say more with, the file of the trace and the tables of its level.
[[nodiscard]] std::vector<Insight> insights_of(const TraceSummary& trace,
                                               const TraceFile* file = nullptr);

}  // namespace superstep
