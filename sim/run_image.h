#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/units.h"
#include "isa/program_image.h"
#include "sim/host/feeds.h"
#include "sim/simulation.h"
#include "sim/superstep_record.h"
#include "sim/trap.h"

namespace superstep {

/// What a run is made with. `interrupted` ends it after the last superstep that is whole.
struct RunOptions : SimulationOptions {
  std::uint32_t calls = 1;
  std::function<void(const SuperstepRecord&)> on_superstep;
  Observer* observer = nullptr;  ///< sees each superstep before `on_superstep`
  std::function<void(std::uint32_t calls_done)> on_call;
  /// Values of infeeds by position, one after the other: the first axis counts visits.
  FeedTensors infeeds = {};
  /// Goes on from a checkpoint of a run with the same arguments and calls.
  std::optional<std::filesystem::path> from_checkpoint = {};
  /// Writes a checkpoint behind the superstep that is then done as the so many-th, unless all calls
  /// are done by then, and goes on.
  struct Save {
    std::filesystem::path file;
    std::uint64_t superstep = 0;
  };
  std::optional<Save> save_checkpoint = {};
};

struct RunResult {
  /// By result; not aliased and calls > 1: leading axis of `calls`, of those behind the checkpoint.
  std::vector<HostTensor> results;
  /// Values of outfeeds by position, of all visits that are over, those behind the checkpoint: the
  /// first axis counts them. They are there also where a trap ended the run.
  FeedTensors outfeeds = {};
  /// Of infeeds with more visits than the program has taken, how many more, by position.
  std::map<std::uint32_t, std::uint64_t> infeeds_left = {};
  RunTotals totals;
  /// Of the last superstep that is whole, an index into ProgramInfo::steps; their number for code
  /// between steps.
  std::uint32_t last_step = 0;
  std::optional<Trap> trap;
  bool interrupted = false;
  std::optional<std::uint32_t> step_inside;  ///< that a tile was in, inside a superstep
  bool saved_checkpoint = false;
  std::optional<InputOutputError> checkpoint_error;  ///< why it could not be written
};

/// Runs a program image. `arguments` by position; one with an extra leading axis of `calls` is sent
/// slice by slice, any other once. The result is the same for any number of threads. Throws
/// MalformedInput for an image that has `problems`.
[[nodiscard]] RunResult run_image(const ProgramImage& image,
                                  const std::vector<HostTensor>& arguments,
                                  const RunOptions& options);

// The same in two steps, for who looks at where it goes on from.

/// At its beginning, or where the checkpoint was made. Throws for what cannot run, or not go on.
/// The image outlives it.
[[nodiscard]] Simulation begin_run(const ProgramImage& image,
                                   const std::vector<HostTensor>& arguments,
                                   const RunOptions& options);
/// What `begin_run` made with the same arguments and options.
[[nodiscard]] RunResult finish_run(Simulation simulation, const std::vector<HostTensor>& arguments,
                                   const RunOptions& options);

}  // namespace superstep
