#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {

/// `ok`, `trap` or `interrupted`.
[[nodiscard]] std::string outcome_of(const RunResult& result);

/// What a run adds up to while it lasts, with or without a trace file: rows as the file has them,
/// and the summary that a report shows.
class RunRecorder {
 public:
  /// The image outlives the recorder.
  RunRecorder(const ProgramImage& image, const TraceOptions& options);

  /// Adds a finished superstep; the row, but for its profiles, is valid until the next.
  const SuperstepRow& add(const SuperstepRecord& record);
  /// Those of the superstep that was added last.
  [[nodiscard]] std::span<const LaunchRow> launches() const { return launches_; }
  /// Of a text that is too long for the file the middle is left out.
  void add_event(TraceEvent event);
  /// Adds how the run ended, if that is an event.
  void finish(const RunResult& result);

  [[nodiscard]] const std::vector<TraceEvent>& events() const { return events_; }
  [[nodiscard]] const TraceTotals& totals() const { return totals_; }
  /// The program's steps and, last, the code between steps.
  [[nodiscard]] const std::vector<StepInfo>& steps() const { return steps_; }

  /// What `read_trace` says of the finished file. An outcome of `running` is that of a run that
  /// came to no end.
  [[nodiscard]] TraceSummary summary(std::string outcome,
                                     const std::optional<Trap>& trap = {}) const;

 private:
  /// What the columns of a superstep say about its step without the machine's help.
  struct StepFacts {
    std::uint32_t operation = 0;
    std::uint64_t live_bytes = 0;  ///< of all steps of the superstep
    std::uint64_t predicted_cycles = 0;
  };

  /// Where the run was interrupted: what it did first, since the text may be cut.
  [[nodiscard]] std::string place_of_end(const RunResult& result) const;
  static std::vector<StepFacts> facts_of(const ProgramInfo& info,
                                         const std::vector<StepInfo>& steps);
  [[nodiscard]] const StepFacts& facts(std::uint32_t step) const;

  const ProgramImage& image_;
  TraceLevel level_;
  PartSources sources_;
  std::uint32_t calls_;
  bool begins_inside_;
  Cycles predicted_;
  std::vector<StepInfo> steps_;
  std::vector<StepFacts> facts_;  ///< by step
  TraceTotals totals_;
  SuperstepRow row_;
  std::vector<LaunchRow> launches_;
  std::vector<TraceEvent> events_;
};

}  // namespace superstep
