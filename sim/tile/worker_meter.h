#pragma once

#include <cstdint>
#include <functional>

#include "sim/instruction_counts.h"
#include "sim/tile/step_cost.h"
#include "sim/tile/worker_context.h"

namespace superstep {

/// Counts what the workers of a tile execute, and says when one has run for too long.
class WorkerMeter {
 public:
  /// A worker is looked at from outside each time it has executed so many instructions, for which a
  /// `StepCost` has room.
  static constexpr std::uint64_t kInstructionsOfTurn = 1U << 12;

  /// Workers ask `interrupted`, which outlives the meter, every now and then, and stop when it
  /// holds.
  void poll(const std::function<bool()>& interrupted) { poll_ = &interrupted; }

  /// Counts the instructions of lines that ran.
  void count(const StepCost& cost) {
    latest_ += cost;
    if (latest_.count() < kInstructionsOfTurn) return;
    instructions_ += latest_.instructions();
    latest_ = {};
  }
  /// All of them; those of turns of `rpt` bodies are in the workers' contexts.
  [[nodiscard]] InstructionCounts instructions() const {
    InstructionCounts all = instructions_;
    all += latest_.instructions();
    return all;
  }

  /// Whether a worker, before `step` and after so many slots, runs no longer; it is stopped then.
  [[nodiscard]] bool gives_up(WorkerContext& worker, const WorkerStep* step,
                              std::uint64_t slots) const;

  template <class Archive>
  void state(Archive& archive) {
    auto& [instructions, latest, poll] = *this;
    archive(instructions, latest);
  }

 private:
  InstructionCounts instructions_;  ///< but for those in `latest_`
  StepCost latest_;
  const std::function<bool()>* poll_ = nullptr;
};

}  // namespace superstep
