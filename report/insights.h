#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "report/answer_field.h"
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

struct InsightRule;

/// What a rule looks at, and where it says what it finds.
struct RuleInput {
  const InsightRule& rule;
  const TraceSummary& trace;
  const TraceFile* file;  ///< of the trace; none of a run that has none open
  std::vector<Insight>& insights;
};

/// One rule: what it measures, and above which share it speaks.
struct InsightRule {
  std::string_view name;
  std::string_view measure;  ///< the share: of what, and which part of it
  double limit = 0;
  TraceLevel level = TraceLevel::kSummary;  ///< the least that has what it reads
  std::string_view advice;                  ///< what to try, in general
  /// Says what there is to say, and returns the share; nothing where the run has nothing of the
  /// kind, or the trace does not say.
  std::optional<double> (*find)(const RuleInput& input);
  bool reads_worker_runs = false;  ///< all of /vertices, a second for half a million
};
/// All, in the order of the documentation.
[[nodiscard]] const std::vector<InsightRule>& insight_rules();

/// What a rule that has nothing to say measured; nothing where it could not look.
struct SilentRule {
  const InsightRule* rule = nullptr;
  std::optional<double> measured = {};
};

/// What the rules find, most cycles first, and the others in their order.
struct Insights {
  std::vector<Insight> found;
  std::vector<SilentRule> silent;
};

/// Worker runs that a report reads, in half a second; `--view insights` reads all.
constexpr std::uint64_t kMostRunsOfReports = 250'000;

/// Of a run without supersteps there is nothing but its memory. Some rules need, or say more with,
/// the file of the trace and the tables of its level. Those that read worker runs are left out
/// where there are more than `most_worker_runs`.
[[nodiscard]] Insights look_for_insights(
    const TraceSummary& trace, const TraceFile* file = nullptr,
    std::uint64_t most_worker_runs = std::numeric_limits<std::uint64_t>::max());
/// What they find alone.
[[nodiscard]] std::vector<Insight> insights_of(
    const TraceSummary& trace, const TraceFile* file = nullptr,
    std::uint64_t most_worker_runs = std::numeric_limits<std::uint64_t>::max());

/// What they find as a list of a document.
[[nodiscard]] nlohmann::ordered_json insights_document(const std::vector<Insight>& insights);
/// Its fields.
inline constexpr AnswerField kInsightFields[] = {
    {"insights", "list", "", "what is worth a look, most cycles first (docs/insights.md)"},
    {"insights[].rule", "text", "", "its name there"},
    {"insights[].found", "text", "", "what is so, with its numbers"},
    {"insights[].advice", "text", "", "what to try"},
    {"insights[].operation", "text", "", "that it is most about, or empty"},
    {"insights[].cycles", "integer", "cycle",
     "that would go at most if it were not so; 0 where that is not known"},
};

/// The rules as a page of the documentation.
[[nodiscard]] std::string insight_rules_markdown();

}  // namespace superstep
