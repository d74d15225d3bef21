#pragma once

#include <cstdint>

#include "sim/instruction_counts.h"

namespace superstep {

/// What a worker did from a launch to its exit: its share of a vertex.
struct WorkerRun {
  std::uint32_t worker = 0;
  std::uint32_t entry = 0;       ///< pc of its first instruction
  std::uint32_t launch_pc = 0;   ///< of the `runall` or `run`
  std::uint32_t calls_step = 0;  ///< of the marked calls that were open there
  std::uint64_t launch = 0;      ///< cycle in which that issued
  std::uint64_t begin = 0;       ///< cycle of its first issue
  std::uint64_t end = 0;         ///< cycle in which it had left
  InstructionCounts instructions = {};
};

}  // namespace superstep
