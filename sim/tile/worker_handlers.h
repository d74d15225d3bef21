#pragma once

#include <vector>

#include "isa/table.h"
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

/// The same for one in the ordinary mode whose accesses are looked at: none is tried first.
[[nodiscard]] const std::vector<WorkerHandlers>& careful_worker_handlers();

/// How a bundle of two instructions runs: pairs that inner loops are made of have a handler of
/// their own, which calls nothing, some even for one value of their immediates; others that of the
/// main half. Null when the main half can be in no bundle.
[[nodiscard]] RunWorkerStep bundle_handler(const isa::InstructionInfo& main,
                                           std::uint32_t main_word, const isa::InstructionInfo& aux,
                                           std::uint32_t aux_word);

/// The loop of a body that is one step with this handler; null when it has none.
[[nodiscard]] RunWorkerTurns turns_handler(RunWorkerStep run);

}  // namespace superstep
