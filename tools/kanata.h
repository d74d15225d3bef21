#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "isa/machine_config.h"
#include "sim/tile/instruction_observer.h"
#include "toolchain/linker.h"

namespace superstep {

/// Keeps instructions for a trace in the Kanata format, version 4 (shioyadan/Konata
/// docs/kanata-log-format.md): a row for each, threads are workers and, behind them, the
/// supervisor.
class KanataTrace : public InstructionObserver {
 public:
  static constexpr std::size_t kMostInstructions = 2'000'000;

  explicit KanataTrace(const MachineConfig& machine) : workers_(machine.tile.workers) {}

  void issued(const IssuedInstruction& instruction) override;
  /// Instructions beyond kMostInstructions, which are not kept.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  [[nodiscard]] std::string text(const LinkedCode& code) const;

 private:
  std::uint32_t workers_;
  std::vector<IssuedInstruction> instructions_;
  std::size_t left_out_ = 0;
};

}  // namespace superstep
