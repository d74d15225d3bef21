#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "isa/program_image.h"
#include "sim/chip/step_table.h"
#include "sim/chip/tile_array.h"
#include "sim/state_archive.h"
#include "sim/superstep_record.h"
#include "sim/sync/waiting_tile.h"

namespace superstep {

/// Makes a record of each superstep of a chip.
class SuperstepAccounts {
 public:
  /// `chip` outlives the accounts.
  SuperstepAccounts(Chip& chip, const ProgramImage& image, TaskArena& arena);

  /// The superstep that ended with the arrival of `last`, the critical tile; the barrier opens at
  /// `opening`. The record is valid until the next call.
  const SuperstepRecord& end(const WaitingTile& last, Cycles opening);

  /// Of the superstep that goes on.
  [[nodiscard]] Cycles begin() const { return begin_; }
  /// Of supersteps that took time.
  [[nodiscard]] std::uint64_t count() const { return count_; }

  template <class Archive>
  void state(Archive& archive) {
    auto& [chip, image, arena, steps, witnesses, record, phases, instructions_before, busy_before,
           sync_pc, sync_calls, sync_trips, begin, behind_a_barrier, count] = *this;
    state_of_same_size(archive, instructions_before, busy_before, sync_pc, sync_calls);
    archive(sync_trips, begin, behind_a_barrier, count);
  }

 private:
  /// Sums over tiles.
  struct Sums {
    InstructionCounts instructions;
    std::uint64_t h_bytes = 0;
    std::uint32_t messages = 0;
    std::uint64_t word_rows = 0, word_columns = 0;

    void add(const Sums& other);
  };

  /// Of the superstep that ends, and the syncs that begin the next one.
  [[nodiscard]] Sums note_tiles(Cycles opening, bool is_visit);
  /// Adds to `sums` what it did.
  void note_tile(std::size_t entry, Cycles opening, bool is_visit, Sums& sums);
  void name_steps(std::size_t critical);
  void share_compute(std::size_t critical);
  /// Whether any tile launched it in the superstep.
  [[nodiscard]] bool is_launched(std::uint32_t step) const;
  void note_skipped();
  /// Steps of loops and arms that only other tiles than the critical one launched.
  void note_launched_elsewhere();
  /// Whether two steps run between the same two barriers whenever one does.
  [[nodiscard]] bool are_together(std::uint32_t a, std::uint32_t b) const;

  Chip& chip_;
  const ProgramImage& image_;
  TaskArena& arena_;
  StepTable steps_;
  /// Entries of tiles of which one has each step, in a program with loops or branches: all tiles of
  /// a step go the same way.
  std::vector<std::size_t> witnesses_;
  SuperstepRecord record_;
  std::vector<TilePhase> phases_;                       ///< by entry
  std::vector<InstructionCounts> instructions_before_;  ///< by entry
  std::vector<std::uint64_t> busy_before_;              ///< by entry
  std::vector<std::uint32_t> sync_pc_;     ///< by entry: the sync that began the superstep
  std::vector<std::uint32_t> sync_calls_;  ///< by entry: step of the calls that were open there
  LoopTrips::Counts sync_trips_;           ///< of all tiles there, which go the same way
  Cycles begin_;
  bool behind_a_barrier_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace superstep
