#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/chip/tile_array.h"
#include "sim/observer.h"
#include "sim/tile/shared_room.h"

namespace superstep {

/// Brings what observers watch of tiles to them, superstep by superstep.
class WatchFeed {
 public:
  /// `tiles` outlives the feed.
  explicit WatchFeed(TileArray& tiles) : tiles_(tiles) {}

  /// Throws MalformedInput when it watches a tile without a program, or several as issued.
  void add(Observer& observer);
  /// A superstep begins.
  void open(std::uint64_t superstep);
  /// Others observed the tiles in the meantime.
  void attach();
  /// It has ended, or there was a trap in it: what issues after that never happened.
  void deliver(std::optional<Cycles> trap = std::nullopt);

 private:
  void deliver_instructions(std::optional<Cycles> trap);
  void deliver_runs();
  void make_room();

  /// Hands on what a tile issues to those who want it so, and keeps it for the others.
  class Log : public InstructionObserver {
   public:
    explicit Log(TileId tile) : tile_(tile) {}

    void wanted_by(std::vector<Observer*> as_issued, SharedRooms rooms) {
      as_issued_ = std::move(as_issued);
      rooms_ = std::move(rooms);
    }
    [[nodiscard]] bool is_wanted() const { return !rooms_.empty() || !as_issued_.empty(); }
    void issued(const IssuedInstruction& instruction) override {
      for (Observer* observer : as_issued_) observer->on_instruction(tile_, instruction);
      if (rooms_.take()) issued_.push_back(instruction);
    }
    [[nodiscard]] std::vector<IssuedInstruction>& list() { return issued_; }

   private:
    TileId tile_;
    std::vector<Observer*> as_issued_;
    SharedRooms rooms_;  ///< of the others
    std::vector<IssuedInstruction> issued_;
  };
  struct Watched {
    std::size_t entry = 0;
    std::unique_ptr<Log> log;
    bool is_attached = false;
    std::vector<SharedRoom*> runs = {};  ///< of those who see what its workers do
  };
  /// Of a superstep, for what one observer wants to see.
  struct Rooms {
    SharedRoom instructions, runs;
  };
  struct Watcher {
    Observer* observer = nullptr;
    Watch watch;  ///< its tiles ascend
    std::unique_ptr<Rooms> rooms = std::make_unique<Rooms>();
    bool is_open = false;  ///< in the superstep that goes on

    [[nodiscard]] bool keeps_instructions() const {
      return watch.instructions && !watch.as_issued && !watch.tiles.empty();
    }
    [[nodiscard]] bool keeps_runs() const { return watch.worker_runs && !watch.tiles.empty(); }
    [[nodiscard]] bool sees(TileId tile) const {
      return is_open && std::ranges::binary_search(watch.tiles, tile);
    }
  };

  TileArray& tiles_;
  std::vector<Watched> watched_;  ///< ascending by entry
  std::vector<Watcher> watchers_;
};

}  // namespace superstep
