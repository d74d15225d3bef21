#pragma once

#include "isa/machine_config.h"

namespace superstep {

/// The builtin machine gc200, read once.
inline const MachineConfig& gc200() {
  static const MachineConfig kMachine = load_machine("gc200");
  return kMachine;
}

}  // namespace superstep
