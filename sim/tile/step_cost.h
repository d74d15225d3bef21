#pragma once

#include <cstdint>

#include "sim/instruction_counts.h"

namespace superstep {

/// Slots and instructions of steps, several numbers in a word, so that an engine adds them all at
/// once. They hold until the steps have 2^32 slots or 2^16 instructions.
class StepCost {
 public:
  constexpr StepCost() = default;
  constexpr StepCost(std::uint32_t slots, const InstructionCounts& instructions)
      : issued_(slots | instructions.branches << kBranchShift | instructions.all << kAllShift),
        classes_(instructions.aux | instructions.amp << kAmpShift |
                 instructions.loads << kLoadShift | instructions.stores << kStoreShift) {}

  [[nodiscard]] constexpr std::uint32_t slots() const {
    return static_cast<std::uint32_t>(issued_);
  }
  /// All instructions.
  [[nodiscard]] constexpr std::uint64_t count() const { return issued_ >> kAllShift; }
  [[nodiscard]] constexpr InstructionCounts instructions() const {
    return {.all = count(),
            .aux = classes_ & kMask,
            .amp = classes_ >> kAmpShift & kMask,
            .loads = classes_ >> kLoadShift & kMask,
            .stores = classes_ >> kStoreShift,
            .branches = issued_ >> kBranchShift & kMask};
  }

  constexpr StepCost& operator+=(const StepCost& other) {
    issued_ += other.issued_;
    classes_ += other.classes_;
    return *this;
  }
  constexpr StepCost& operator-=(const StepCost& other) {
    issued_ -= other.issued_;
    classes_ -= other.classes_;
    return *this;
  }
  friend constexpr StepCost operator-(StepCost a, const StepCost& b) { return a -= b; }

 private:
  static constexpr unsigned kBranchShift = 32, kAllShift = 48;
  static constexpr unsigned kAmpShift = 16, kLoadShift = 32, kStoreShift = 48;
  static constexpr std::uint64_t kMask = 0xffff;

  std::uint64_t issued_ = 0;
  std::uint64_t classes_ = 0;
};

}  // namespace superstep
