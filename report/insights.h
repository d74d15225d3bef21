#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "sim/trace/trace.h"

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
  void (*find)(const TraceSummary& trace, std::vector<Insight>& insights);
};
/// All, in the order of the documentation.
[[nodiscard]] const std::vector<InsightRule>& insight_rules();

/// What the rules find, most cycles first. Of a run without supersteps nothing but its memory.
[[nodiscard]] std::vector<Insight> insights_of(const TraceSummary& trace);

}  // namespace superstep
