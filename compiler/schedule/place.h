#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule/ports.h"
#include "compiler/schedule/schedule.h"

namespace superstep {

/// Where and when the words of a task arrive.
struct TaskArrival {
  std::uint32_t tile;
  std::uint32_t address;
  std::uint64_t latency;  ///< cycles from leaving to arriving
  Blocks blocks;
};

/// A transfer to be placed: one send, received by each of its destinations.
struct Task {
  std::uint32_t source;
  std::uint32_t address;
  std::uint32_t words;
  Blocks blocks;
  std::uint64_t earliest;  ///< no port is before its release
  std::uint32_t round;     ///< of a rotation, see `rounds_of`
  std::vector<TaskArrival> arrivals;
};

/// Words of a task that leave one after the other.
struct TaskPiece {
  std::uint32_t task = 0;
  std::uint32_t offset = 0, words = 0;  ///< of the task's words
  std::uint64_t start = 0;              ///< from the opening of the barrier
};

/// When each task is sent, whole or in pieces.
struct Placement {
  std::vector<TaskPiece> pieces;
  std::uint64_t length = 0;  ///< to the last arrival; 0: no placement
};

/// Finds start times for the transfers of a phase so that no port is used twice in a cycle.
class Scheduler {
 public:
  Scheduler(const MachineConfig& machine, std::span<const Transfer> transfers);

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }

  /// The busiest port.
  [[nodiscard]] std::uint64_t bound_words() const;

  /// The best of a few orders; in a large phase the search ends near the bound.
  [[nodiscard]] Placement place() const;

 private:
  class Search;

  void add_task(const Transfer& transfer, std::uint32_t round);
  [[nodiscard]] Placement place_in(const std::vector<std::uint32_t>& order, bool split) const;

  const MachineConfig& machine_;
  std::vector<Task> tasks_;
  std::vector<std::uint64_t> words_out_, words_in_;  ///< by tile
  std::vector<std::uint32_t> uses_;                  ///< sends and receives by tile
  std::size_t arrivals_ = 0;
};

}  // namespace superstep
