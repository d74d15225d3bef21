#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/tile/shared_room.h"
#include "sim/tile/worker_run.h"

namespace superstep {

/// Notes the runs of a tile's workers. Since one context runs at a time on the host, what the tile
/// has counted since the last of them stood still is its own.
class WorkerRuns {
 public:
  /// They take of `rooms`.
  WorkerRuns(std::uint32_t workers, SharedRooms rooms) : open_(workers), rooms_(std::move(rooms)) {}

  /// A worker is launched; `counted` is what the tile has so far.
  void begin(const WorkerRun& run, const InstructionCounts& counted) {
    open_[run.worker] = run;
    counted_ = counted;
  }
  /// It stands still, while others run.
  void pause(std::uint32_t worker, const InstructionCounts& counted) {
    open_[worker].instructions += counted - counted_;
    counted_ = counted;
  }
  /// It has left in cycle `left`.
  void end(std::uint32_t worker, std::uint64_t left, const InstructionCounts& counted) {
    pause(worker, counted);
    open_[worker].end = left;
    if (rooms_.take()) done_.push_back(open_[worker]);
  }

  /// Those that are over and found room, in the order in which they ran on the host.
  [[nodiscard]] std::span<const WorkerRun> done() const { return done_; }
  void clear() { done_.clear(); }

 private:
  std::vector<WorkerRun> open_;  ///< by worker
  std::vector<WorkerRun> done_;
  SharedRooms rooms_;
  InstructionCounts counted_;
};

}  // namespace superstep
