#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/chip/message.h"
#include "sim/exchange/fabric.h"
#include "sim/state_archive.h"
#include "sim/task_arena.h"

namespace superstep {

class Chip;

/// The exchange fabric of a chip as a process: moves the words of a phase when the ports of all
/// tiles have been told what to do.
class FabricProcess : public MachineProcess {
 public:
  /// All that is referred to outlives the process.
  FabricProcess(Chip& chip, std::unique_ptr<FabricModel> fabric, TaskArena& arena);

  void handle(const Message& message, MachineOutbox& out) override;

  /// A superstep begins, in which no port has been told anything.
  void open();
  /// Of the current superstep.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Of an entry of the image: one past the cycle of its last port event; 0 without.
  [[nodiscard]] std::uint64_t ports_done(std::size_t entry) const { return done(entry).cycle; }
  /// Whether an entry of the image that stopped for its words cannot go on: there is a trap.
  [[nodiscard]] bool lacks_words(std::size_t entry) const { return done(entry).lacks_words; }
  [[nodiscard]] const PortTraffic& traffic(std::size_t entry) const { return done(entry).traffic; }
  /// Of the current superstep, whose words are in the memories of the tiles.
  template <class Archive>
  void state(Archive& archive) {
    archive(entries_, bytes_, superstep_, last_done_);
    state_of_same_size(archive, done_);
  }

  /// Whether words are on their way when the next barrier opens, which are traps.
  [[nodiscard]] bool has_words_after(Cycles opening, MachineOutbox& out) const;

 private:
  /// What the ports of a tile did.
  struct Done {
    std::uint64_t superstep = 0;  ///< in which; 0 is none
    std::uint64_t cycle = 0;      ///< one past their last event; 0 without
    PortTraffic traffic;
    bool lacks_words = false;
  };

  /// In the current superstep.
  [[nodiscard]] const Done& done(std::size_t entry) const {
    static constexpr Done kNothing;
    return done_[entry].superstep == superstep_ ? done_[entry] : kNothing;
  }
  void move_words(MachineOutbox& out);

  Chip& chip_;
  std::unique_ptr<FabricModel> fabric_;
  TaskArena& arena_;
  std::vector<FabricPort> ports_;
  std::vector<std::size_t> entries_;  ///< by port
  std::vector<Done> done_;            ///< by entry, when its ports were last told something
  std::uint64_t superstep_ = 1;
  // Of the current one:
  std::uint64_t bytes_ = 0;
  std::uint64_t last_done_ = 0;  ///< the last of all ports' `Done::cycle`
};

}  // namespace superstep
