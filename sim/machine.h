#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"
#include "isa/program_image.h"

namespace superstep {

/// Why a tile stopped: names cycle, superstep, tile, context and pc.
struct Trap {
  Cycles cycle;
  std::uint64_t superstep = 0;
  TileId tile{};
  std::string context;  ///< `supervisor`, `worker 2`, `exchange`
  std::uint32_t pc = 0;
  std::string cause;

  [[nodiscard]] std::string text() const;
};

/// One tile's share of a superstep. A superstep may be longer than 2^32 cycles.
struct TilePhase {
  std::uint64_t exchange = 0, compute = 0, sync = 0;  ///< cycles
  std::uint64_t exchange_idle = 0;  ///< of the exchange cycles: no word leaves or arrives
  std::uint64_t sent_bytes = 0, received_bytes = 0;
  std::uint64_t instructions = 0;  ///< of the workers; a bundle counts as two
  std::uint64_t worker_busy = 0;   ///< cycles from first issue to exit, added up over workers
};

/// Compute cycles of a superstep's critical tile from a step's launches to those of other steps.
struct ComputeShare {
  std::uint32_t step = 0;
  std::uint64_t cycles = 0;
  std::uint64_t runs = 0;  ///< in loops a step may run several times between two barriers
};

/// One stream as it crossed the host link.
struct HostTransfer {
  std::uint32_t stream = 0;  ///< index into ProgramImage::streams
  std::uint64_t bytes = 0;
  Cycles begin, end;  ///< from the start of its host phase
};

/// A finished superstep: from one barrier opening to the next. The parts are those of its critical
/// tile and sum to `end - begin`.
struct SuperstepRecord {
  std::uint64_t number = 0;
  std::uint32_t step = 0;  ///< index into ProgramInfo::steps; their number for code between steps
  std::uint32_t exchange_step = 0;  ///< the same for the exchange cycles: the step of the sync
  Cycles begin, end;
  Cycles exchange, compute, sync, host;
  TileId critical{};
  std::uint32_t call = 0;  ///< of the program; a host phase between two belongs to the later one
  std::uint64_t trip = 0;  ///< of the innermost loop around `exchange_step`, from 0
  std::vector<ComputeShare> shares;  ///< of `compute`, which they sum to, in order
  std::uint64_t exchange_bytes = 0, host_bytes = 0;
  std::uint64_t h_bytes = 0;  ///< the most that any tile sends or receives
  std::uint32_t messages = 0;
  std::vector<HostTransfer> transfers;
  std::uint64_t worker_instructions = 0;  ///< a bundle counts as two
  const std::vector<TilePhase>* tiles =
      nullptr;  ///< by entry of the image; valid during the call of the observer
};

struct RunTotals {
  Cycles cycles, exchange, compute, sync, host;
  std::uint64_t supersteps = 0, worker_instructions = 0;
};

struct RunOptions {
  std::uint32_t calls = 1;
  std::uint32_t threads = 1;
  /// A trap when the program is not done after so many, for loops that may not end; also after so
  /// many trips of loops without a superstep.
  std::optional<std::uint64_t> max_supersteps = {};
  bool check_races = false;  ///< trap when workers that run at the same time share a word that one
                             ///< of them writes
  /// Of the exchange phases that repeat each so many-th is resolved again and must come out the
  /// same; none when it is 0.
  std::uint32_t check_repeats = 0;
  std::function<void(const SuperstepRecord&)> on_superstep;
  std::function<void(std::uint32_t calls_done)> on_call;
  /// Polled between supersteps and, on any thread of the run, within long ones; once it is true it
  /// stays so. Ends the run after the last superstep that is whole.
  std::function<bool()> interrupted;
};

struct RunResult {
  std::vector<HostTensor>
      results;  ///< by result; not aliased and calls > 1: leading axis of `calls`
  RunTotals totals;
  /// Of the last superstep that is whole, an index into ProgramInfo::steps; their number for code
  /// between steps.
  std::uint32_t last_step = 0;
  std::optional<Trap> trap;
  bool interrupted = false;

  /// Where the run got to: cycle, superstep and the op of the step.
  [[nodiscard]] std::string place(const ProgramInfo& program) const;
};

/// Runs a program image. `arguments` by position; one with an extra leading axis of `calls` is sent
/// slice by slice, any other once. The result is the same for any number of threads.
[[nodiscard]] RunResult run_image(const ProgramImage& image,
                                  const std::vector<HostTensor>& arguments,
                                  const RunOptions& options);

}  // namespace superstep
