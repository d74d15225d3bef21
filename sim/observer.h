#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/units.h"
#include "sim/superstep_record.h"
#include "sim/tile/instruction_observer.h"
#include "sim/tile/worker_run.h"

namespace superstep {

/// The tiles that an observer sees, and in which supersteps.
struct Watch {
  std::vector<TileId> tiles = {};
  std::uint64_t first_superstep = 0;
  std::uint64_t last_superstep = std::numeric_limits<std::uint64_t>::max();
  /// Each instruction as its tile issues it, in the order of InstructionObserver: nothing is kept
  /// until the superstep ends. Tiles run side by side, so an observer watches one so.
  bool as_issued = false;
  /// Their instructions: only these tiles leave the fast engine, and only then.
  bool instructions = true;
  /// In a superstep in which these tiles issue more than so many it sees none of them: they are
  /// kept until it ends.
  std::uint64_t most_instructions = std::numeric_limits<std::uint64_t>::max();
  /// What their workers do from launch to exit.
  bool worker_runs = false;
  /// In a superstep in which these tiles have more than so many it sees none of them: they are kept
  /// until it ends.
  std::uint64_t most_worker_runs = std::numeric_limits<std::uint64_t>::max();
};

/// Sees a simulation as it runs: one call after the other, in order of time and on the thread that
/// runs it. Only instructions as issued come on any thread of the simulation, while that one waits.
/// It cannot change the machine. What it throws leaves the simulation, which cannot go on then.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Asked when it is added.
  [[nodiscard]] virtual Watch watch() const { return {}; }
  /// Before `on_superstep` of the superstep that they belong to, by cycle, then by tile, unless
  /// they are wanted as issued; those of a superstep that ends in a trap as well.
  virtual void on_instruction(TileId /*tile*/, const IssuedInstruction& /*instruction*/) {}
  /// In place of all instructions of a superstep that has more than it wanted.
  virtual void on_too_many_instructions() {}
  /// Before `on_superstep` of the superstep that they belong to, by tile, then by first issue, then
  /// by worker.
  virtual void on_worker_run(TileId /*tile*/, const WorkerRun& /*run*/) {}
  /// In place of all worker runs of a superstep that has more than it wanted.
  virtual void on_too_many_worker_runs() {}
  /// A superstep that took time has ended.
  virtual void on_superstep(const SuperstepRecord& /*record*/) {}
  /// So many calls of the program are done: their results are there.
  virtual void on_call(std::uint32_t /*calls_done*/) {}
};

}  // namespace superstep
