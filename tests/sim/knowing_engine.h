#pragma once

#include <cstdint>

#include "sim/tile/engine.h"
#include "sim/tile/worker_context.h"

namespace superstep {

/// Knows what the program does without its steps, as translated code would: leaves, after so many
/// slots.
struct KnowingEngine : Engine {
  explicit KnowingEngine(std::uint64_t takes) : slots(takes) {}

  std::uint64_t run(WorkerContext& worker, const WorkerStep*) override {
    worker.stop = WorkerContext::Stop::kExit;
    return slots;
  }

  std::uint64_t slots;
};

}  // namespace superstep
