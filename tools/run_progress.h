#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sim/simulation.h"

namespace superstep {

/// What a run that lasts has done, as its trace has it.
struct RunProgress {
  RunTotals totals = {};
  std::uint64_t clock_hz = 0;       ///< 0 where it is not known
  std::uint64_t call = 0;           ///< of the program that it is in, from 0
  std::uint64_t calls = 1;          ///< that are asked for
  std::string operation = {};       ///< of the last superstep, with its place in the program
  std::chrono::seconds quiet = {};  ///< since the trace last grew
};

/// That in a line, which also says when a run seems to stand still.
[[nodiscard]] std::string text_of(const RunProgress& progress);

}  // namespace superstep
