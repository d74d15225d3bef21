#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sim/simulation.h"

namespace superstep {

/// What a run that lasts has done, as its trace has it.
struct RunProgress {
  RunTotals totals = {};
  std::uint64_t clock_hz = 0;
  std::uint32_t call = 0;  ///< that it is in, from 0
  std::uint32_t calls = 1;
  std::string operation = {};       ///< of the last superstep, with its place in the program
  std::chrono::seconds quiet = {};  ///< since the trace last grew
};

/// That in a line, which also says when a run seems to stand still.
[[nodiscard]] std::string text_of(const RunProgress& progress);

}  // namespace superstep
