#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/trace/rows.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// The program of a trace: its steps below the loops, branches and arms that execute them.
class ProgramTree {
 public:
  explicit ProgramTree(const TraceFile& trace);

  [[nodiscard]] const std::string& module() const { return module_; }
  [[nodiscard]] const std::vector<StepRow>& steps() const { return steps_; }
  /// A step by its number; what is past the last is the last, the code between steps.
  [[nodiscard]] std::uint32_t number(std::uint32_t step) const;
  [[nodiscard]] const StepRow& step(std::uint32_t step) const { return steps_[number(step)]; }
  [[nodiscard]] const OperationRow& operation(std::uint32_t step) const;
  /// The steps that execute a step, the outermost first.
  [[nodiscard]] std::vector<std::uint32_t> ancestors(std::uint32_t step) const;
  /// The innermost loop around a step, if there is one.
  [[nodiscard]] std::optional<std::uint32_t> loop_around(std::uint32_t step) const;
  /// Its name; of a loop with its trips, as `while.27 (8 trips)`.
  [[nodiscard]] std::string label(std::uint32_t step) const;

 private:
  std::string module_;
  std::vector<StepRow> steps_;
  std::vector<OperationRow> operations_;
};

}  // namespace superstep
