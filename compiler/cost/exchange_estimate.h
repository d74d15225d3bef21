#pragma once

#include <cstdint>
#include <span>

#include "compiler/program/program.h"
#include "isa/machine_config.h"

namespace superstep {

/// Cycles of an exchange phase from the opening of its barrier to its last word, before addresses
/// are known and anything is scheduled: what `StepInfo::predicted_cycles` will be.
[[nodiscard]] std::uint64_t estimate_exchange(const MachineConfig& machine,
                                              std::span<const Movement> movements);

}  // namespace superstep
