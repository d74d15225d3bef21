#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/units.h"

namespace superstep {

// What a translator works on is the simulator's inside: sim/tile/worker_context.h.
struct WorkerContext;
struct WorkerStep;

/// Runs a tile's workers where nobody looks at their steps: each alone, as fast as the host can.
/// Whoever launches them decides when, and what is theirs; engines may stand beside one another.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Runs a worker from `step` until it has left, has faulted or is interrupted, as its context
  /// says then; or, with `WorkerContext::Stop::kJump`, until it has jumped to code that reads the
  /// cycle counter. The slots that it took.
  [[nodiscard]] virtual std::uint64_t run(WorkerContext& worker, const WorkerStep* step) = 0;
};

/// Makes the engine of a tile, which may leave workers to its interpreter; that outlives it.
using MakeEngine = std::function<std::unique_ptr<Engine>(TileId tile, Engine& interpreter)>;

}  // namespace superstep
