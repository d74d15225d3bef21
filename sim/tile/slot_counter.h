#pragma once

#include <array>
#include <cstdint>

#include "isa/machine_config.h"
#include "sim/tile/instruction_observer.h"

namespace superstep {

/// What a context issued, and what it waited for.
struct SlotCounts {
  std::uint64_t instructions = 0;  ///< a bundle counts as two
  std::uint64_t main_only = 0, aux_only = 0, bundles = 0;
  std::uint64_t extra_slots = 0;    ///< beyond the first of instructions that take several
  std::uint64_t register_wait = 0;  ///< supervisor, cycles until a result can be used
  std::uint64_t slot_wait = 0;      ///< supervisor, cycles that belonged to workers
  std::uint64_t branch_wait = 0;    ///< supervisor, cycles of taken branches beyond the first
  std::uint64_t sync_wait = 0;      ///< supervisor, cycles of `sync` beyond the first

  /// Issue slots of a worker, cycles of the supervisor.
  [[nodiscard]] std::uint64_t total() const {
    return main_only + aux_only + bundles + extra_slots + register_wait + slot_wait + branch_wait +
           sync_wait;
  }
};

/// Counts what it sees and hands it on.
class SlotCounter : public InstructionObserver {
 public:
  explicit SlotCounter(const MachineConfig& machine, InstructionObserver* next = nullptr)
      : period_(machine.issue_period()), next_(next) {}

  void issued(const IssuedInstruction& instruction) override;
  [[nodiscard]] const SlotCounts& worker(std::uint32_t id) const { return of_workers_.at(id); }
  [[nodiscard]] const SlotCounts& supervisor() const { return of_supervisor_; }

 private:
  std::uint32_t period_;
  InstructionObserver* next_;
  std::array<SlotCounts, kMostWorkers> of_workers_{};
  SlotCounts of_supervisor_;
};

}  // namespace superstep
