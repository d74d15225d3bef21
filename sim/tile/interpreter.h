#pragma once

#include "sim/tile/engine.h"
#include "sim/tile/worker_codes.h"
#include "sim/tile/worker_context.h"
#include "sim/tile/worker_meter.h"

namespace superstep {

/// The engine that executes decoded steps, one after the other.
class Interpreter : public Engine {
 public:
  /// Of a tile; both outlive it.
  Interpreter(WorkerCodes& codes, WorkerMeter& meter) : codes_(codes), meter_(meter) {}

  [[nodiscard]] std::uint64_t run(WorkerContext& worker, const WorkerStep* step) override;

 private:
  /// The slots of all but turns of `rpt` bodies.
  std::uint64_t run_lines(WorkerContext& worker, const WorkerStep* step);

  WorkerCodes& codes_;
  WorkerMeter& meter_;
};

}  // namespace superstep
