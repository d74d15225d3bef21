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

/// The same for a worker in other than the ordinary mode of floating point.
[[nodiscard]] const std::vector<WorkerHandlers>& moded_worker_handlers();

/// How a bundle runs of two instructions, by their numbers: pairs that inner loops are made of have
/// a handler of their own, which calls nothing, others that of the main half. Null when the main
/// half can be in no bundle.
[[nodiscard]] RunWorkerStep bundle_handler(std::size_t main, std::size_t aux);

}  // namespace superstep
