#include "sim/tile/worker_meter.h"

#include "sim/tile/endless_loop.h"

namespace superstep {

bool WorkerMeter::gives_up(WorkerContext& worker, const WorkerStep* step,
                           std::uint64_t slots) const {
  if (slots * worker.period > kMostCycles) [[unlikely]] {
    worker.fail("more than 2^34 cycles since its launch: an endless loop", step->pc,
                TrapKind::kLimit);
    return true;
  }
  if (poll_ != nullptr && (*poll_)()) [[unlikely]] {
    worker.stop = WorkerContext::Stop::kInterrupted;
    return true;
  }
  return false;
}

}  // namespace superstep
