#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"
#include "isa/program_image.h"
#include "sim/simulation.h"
#include "sim/superstep_record.h"
#include "sim/trap.h"

namespace superstep {

struct RunOptions {
  std::uint32_t calls = 1;
  std::uint32_t threads = 1;
  /// A trap when the program is not done after so many, for loops that may not end; also after so
  /// many trips of loops without a superstep.
  std::optional<std::uint64_t> max_supersteps = {};
  /// Trap when workers of these launches, which run at the same time, share a word that one of them
  /// writes. Where addresses depend on data, workers that did not meet the first time may meet
  /// later.
  RaceChecks check_races = RaceChecks::kFirst;
  /// Of the exchange phases that repeat each so many-th is resolved again and must come out the
  /// same; none when it is 0.
  std::uint32_t check_repeats = 0;
  std::function<void(const SuperstepRecord&)> on_superstep;
  std::function<void(std::uint32_t calls_done)> on_call;
  /// Goes on from a checkpoint of a run with the same arguments and calls.
  std::optional<std::filesystem::path> from_checkpoint = {};
  /// Writes a checkpoint behind the superstep that is then done as the so many-th, and goes on.
  struct Save {
    std::filesystem::path file;
    std::uint64_t superstep = 0;
  };
  std::optional<Save> save_checkpoint = {};
  /// Polled between supersteps and, on any thread of the run, within long ones; once it is true it
  /// stays so. Ends the run after the last superstep that is whole.
  std::function<bool()> interrupted;
};

struct RunResult {
  /// By result; not aliased and calls > 1: leading axis of `calls`, of those behind the checkpoint.
  std::vector<HostTensor> results;
  RunTotals totals;
  /// Of the last superstep that is whole, an index into ProgramInfo::steps; their number for code
  /// between steps.
  std::uint32_t last_step = 0;
  std::optional<Trap> trap;
  bool interrupted = false;
  bool saved_checkpoint = false;
  std::string place;  ///< where the run got to: cycle, superstep and the op of the step
};

/// Runs a program image. `arguments` by position; one with an extra leading axis of `calls` is sent
/// slice by slice, any other once. The result is the same for any number of threads. Throws
/// MalformedInput for an image that has `problems`.
[[nodiscard]] RunResult run_image(const ProgramImage& image,
                                  const std::vector<HostTensor>& arguments,
                                  const RunOptions& options);

}  // namespace superstep
