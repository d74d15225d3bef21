#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "sim/tile/instruction_observer.h"

namespace superstep {

/// Hands on what is issued before a cycle, where the supervisor waits no longer, and says when
/// something would be issued later. Its `is_reached` is for whoever polls.
class CycleLimit : public InstructionObserver {
 public:
  CycleLimit(std::optional<std::uint64_t> cycles, InstructionObserver& next)
      : cycles_(cycles.value_or(std::numeric_limits<std::uint64_t>::max())), next_(next) {}

  void issued(const IssuedInstruction& instruction) override {
    if (instruction.cycle >= cycles_) {
      is_reached_ = true;
      return;
    }
    if (!last_ || instruction.cycle >= last_->cycle) last_ = instruction;
    IssuedInstruction until = instruction;
    if (until.context == IssuedInstruction::kSupervisor) {
      until.cycles = std::min(until.cycles, cycles_ - until.cycle);
    }
    next_.issued(until);
  }

  [[nodiscard]] bool is_reached() const { return is_reached_; }
  /// What was issued last before the limit, or so far.
  [[nodiscard]] const std::optional<IssuedInstruction>& last() const { return last_; }

 private:
  std::uint64_t cycles_;
  InstructionObserver& next_;
  bool is_reached_ = false;
  std::optional<IssuedInstruction> last_;
};

}  // namespace superstep
