#pragma once

#include <vector>

#include "sim/tile/worker_context.h"

namespace superstep {

/// How one instruction runs on a worker; entries are null where it cannot.
struct WorkerHandlers {
  bool pure = false;  ///< it changes its outputs alone and cannot fail
  RunWorkerStep solo = nullptr;
  RunWorkerStep bundle = nullptr;  ///< as the main half; calls `WorkerStep::aux`
  RunAuxHalf aux = nullptr;
};

/// By `InstructionInfo::number`.
[[nodiscard]] const std::vector<WorkerHandlers>& worker_handlers();

}  // namespace superstep
