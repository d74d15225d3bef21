#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/chip/tile_array.h"
#include "sim/observer.h"

namespace superstep {

/// Brings the instructions of watched tiles to their observers, superstep by superstep.
class InstructionFeed {
 public:
  /// `tiles` outlives the feed.
  explicit InstructionFeed(TileArray& tiles) : tiles_(tiles) {}

  /// Throws MalformedInput when it watches a tile without a program.
  void add(Observer& observer);
  /// A superstep begins.
  void open(std::uint64_t superstep);
  /// It has ended, or there was a trap in it.
  void deliver();

 private:
  /// Keeps what a tile issues.
  class Log : public InstructionObserver {
   public:
    void issued(const IssuedInstruction& instruction) override { issued_.push_back(instruction); }
    [[nodiscard]] std::vector<IssuedInstruction>& list() { return issued_; }

   private:
    std::vector<IssuedInstruction> issued_;
  };
  struct Watched {
    std::size_t entry = 0;
    std::unique_ptr<Log> log;
    bool is_attached = false;
  };
  struct Watcher {
    Observer* observer = nullptr;
    Watch watch;
    bool is_open = false;  ///< in the superstep that goes on
  };

  TileArray& tiles_;
  std::vector<Watched> watched_;  ///< ascending by entry
  std::vector<Watcher> watchers_;
};

}  // namespace superstep
