#include "sim/tile/worker_meter.h"

namespace superstep {
namespace {

/// A worker that takes more slots than this is taken for an endless loop: about 20 seconds of
/// machine time.
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 34;
constexpr const char* kEndless = "more than 2^34 slots: an endless loop";

}  // namespace

bool WorkerMeter::gives_up(WorkerContext& worker, const WorkerStep* step,
                           std::uint64_t slots) const {
  if (slots > kMostSlots) [[unlikely]] {
    worker.fail(kEndless, step->pc, TrapKind::kLimit);
    return true;
  }
  if (poll_ != nullptr && (*poll_)()) [[unlikely]] {
    worker.stop = WorkerContext::Stop::kInterrupted;
    return true;
  }
  return false;
}

}  // namespace superstep
