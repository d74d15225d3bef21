#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/schedule/tasks.h"

namespace superstep {

/// In a phase of up to so many arrivals all is tried that could be better [assumed, for the time to
/// compile].
constexpr std::size_t kFewArrivals = 40'000;

/// Words of a task that leave one after the other.
struct TaskPiece {
  std::uint32_t task = 0;
  std::uint32_t offset = 0, cycles = 0;  ///< of those of the task
  std::uint32_t start = 0;               ///< from the opening of the barrier
};

/// When each task is sent, whole or in pieces.
struct Placement {
  std::vector<TaskPiece> pieces;
  std::uint32_t length = 0;  ///< to the last arrival; 0: no placement
};

/// List scheduling: tasks are placed one by one where all their ports are first free, in a few
/// orders, of which the best is kept.
[[nodiscard]] Placement place_tasks(const Tasks& tasks);

}  // namespace superstep
