#pragma once

#include <optional>

#include "sim/chip/message.h"

namespace superstep {

/// A trap is reported when every process has reached its cycle: the one with the smallest (cycle,
/// chip, tile, context).
class TrapReporter : public MachineProcess {
 public:
  /// Handles the events of a cycle behind all other processes.
  TrapReporter() : MachineProcess({ChipId{~std::uint32_t{0}}, 0}) {}

  void handle(const Message& message, MachineOutbox& out) override;

  /// Sends a trap on its way, at its cycle.
  void send(MachineOutbox& out, ChipId chip, Trap trap);

  /// The first trap, once it is reached.
  [[nodiscard]] const std::optional<Trap>& trap() const { return trap_; }

 private:
  std::optional<Trap> trap_;
};

}  // namespace superstep
