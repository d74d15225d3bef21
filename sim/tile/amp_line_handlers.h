#pragma once

#include <cstdint>

#include "isa/table.h"
#include "sim/tile/amp_line.h"

namespace superstep {

/// How lines of an AMP instruction run; null for one that is in no line.
struct AmpLineHandlers {
  std::uint32_t phases = 0;  ///< of a block
  RunWorkerStep run = nullptr;
  RunWorkerTurns run_turns = nullptr;
};
[[nodiscard]] AmpLineHandlers amp_line_handlers(const isa::InstructionInfo& amp);

}  // namespace superstep
