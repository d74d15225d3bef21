#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "isa/program_image.h"
#include "sim/chip/message.h"
#include "sim/chip/stop_summary.h"
#include "sim/exchange/fabric.h"
#include "sim/state_archive.h"
#include "sim/task_arena.h"
#include "sim/tile/tile.h"

namespace superstep {

class Chip;

/// What the tiles of a run are asked to do besides running.
struct TileOptions {
  RaceChecks check_races = RaceChecks::kFirst;
  bool take_turns = false;
  std::optional<std::uint64_t> max_trips = {};  ///< of loops without a superstep
  /// Asked on any thread in superstep that take long; once it is true it stays so.
  std::function<bool()> interrupted;
  /// The tile's interpreter where it is empty.
  MakeEngine make_engine = {};
};

/// What a tile did until it stopped, side by side for those who look at all tiles.
struct TileWork {
  InstructionCounts instructions;  ///< of its workers, since boot
  std::uint64_t busy_cycles = 0;   ///< likewise
  std::uint32_t calls_step = 0;    ///< of the marked calls that are open
  TileLaunches launches;
  std::vector<WorkerRun> runs;  ///< of these launches, where they are noted
};

/// The tiles of a chip that have a program, as one process: from an opening to their next stops
/// they need nothing of each other, so that they run side by side, each as far as it can.
class TileArray : public MachineProcess {
 public:
  /// Boots them. All that is referred to outlives the array.
  TileArray(Chip& chip, const ProgramImage& image, const TileOptions& options, TaskArena& arena);
  /// Side by side: to free the tiles takes as long as to fill them.
  ~TileArray() override;

  void handle(const Message& message, MachineOutbox& out) override;

  [[nodiscard]] std::size_t size() const { return tiles_.size(); }
  /// By entry of the image, like all that follows.
  [[nodiscard]] Tile& tile(std::size_t entry) { return tiles_[entry]; }
  [[nodiscard]] TileId id(std::size_t entry) const { return image_.entries[entry].tile; }
  /// Of a tile that has a program.
  [[nodiscard]] std::optional<std::size_t> entry_of(TileId tile) const;
  [[nodiscard]] const TileStop& stop(std::size_t entry) const { return stops_[entry]; }
  [[nodiscard]] const TileWork& work(std::size_t entry) const { return work_[entry]; }
  /// Whether it told its ports something since it last began to run.
  [[nodiscard]] bool told_ports(std::size_t entry) const { return told_ports_[entry] != 0; }
  /// A tile's side of an exchange phase, whose ports were told what `log` has.
  [[nodiscard]] FabricPort port(std::size_t entry, const PortLog& log);
  /// When a tile stopped at its sync.
  [[nodiscard]] Cycles arrival(std::size_t entry) const { return Cycles(stops_[entry].cycle); }

  /// One was asked to stop in the middle of a superstep, which will never be whole.
  [[nodiscard]] bool is_interrupted() const { return stopped_.is_interrupted; }

  [[nodiscard]] const MachineConfig& machine() const { return image_.machine; }
  [[nodiscard]] CodeStore& code() { return code_; }
  /// When a tile goes on behind an opening: all at once at boot.
  [[nodiscard]] Cycles release(std::size_t entry, Cycles opening) const {
    return has_run_ ? opening + skew_[entry] : opening;
  }
  /// What a tile boots with.
  [[nodiscard]] std::span<const Segment* const> segments(std::size_t entry) const {
    const std::size_t first = entry == 0 ? 0 : segments_end_[entry - 1];
    return std::span(segments_).subspan(first, segments_end_[entry] - first);
  }

  /// Of tiles that wait, but for their memories.
  template <class Archive>
  void state(Archive& archive) {
    for (Tile& tile : tiles_) tile.state(archive);
    state_of_same_size(archive, stops_);
    for (TileWork& work : work_) {
      archive(work.instructions, work.busy_cycles, work.calls_step, work.launches);
    }
    archive(has_run_, stopped_.is_interrupted);
  }

 private:
  void boot();
  void list_segments();
  void run(Cycles opening, bool is_visit, MachineOutbox& out);
  void resume(MachineOutbox& out);
  template <class Begin, class Run>
  void run_tiles(const Begin& begin, const Run& run_tile);
  void note_work(std::size_t entry);
  [[nodiscard]] bool is_asked_to_stop(std::size_t entry, std::uint64_t from) const;
  void send_traps_of_resumed(MachineOutbox& out);
  void send_arrivals(MachineOutbox& out);
  [[nodiscard]] Trap trap_of(std::size_t entry) const;

  Chip& chip_;
  const ProgramImage& image_;
  const TileOptions& options_;
  TaskArena& arena_;
  CodeStore code_;
  RaceShadows race_shadows_;
  HostPages memory_;  ///< of all tiles: threads that map some each would wait for one another
  std::vector<std::unique_ptr<Engine>> engines_;  ///< by entry, if they are not the tiles' own
  std::vector<Tile> tiles_;
  std::vector<const Segment*> segments_;   ///< by entry
  std::vector<std::size_t> segments_end_;  ///< by entry: past the last of its own
  std::vector<Cycles> skew_;
  std::vector<TileStop> stops_;
  std::vector<TileWork> work_;
  std::vector<std::uint8_t> told_ports_;  ///< by entry
  std::vector<std::uint8_t> resumed_;     ///< it used the words of this superstep
  StopSummary stopped_;                   ///< in this superstep
  bool has_run_ = false;
};

}  // namespace superstep
