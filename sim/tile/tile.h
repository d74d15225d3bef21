#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "isa/machine_config.h"
#include "sim/exchange/port_log.h"
#include "sim/instruction_counts.h"
#include "sim/tile/call_stack.h"
#include "sim/tile/code_store.h"
#include "sim/tile/engine.h"
#include "sim/tile/instruction_observer.h"
#include "sim/tile/loop_trips.h"
#include "sim/tile/memory.h"
#include "sim/state_archive.h"
#include "sim/tile/race_finder.h"
#include "sim/tile/shared_room.h"
#include "sim/tile/worker_run.h"
#include "sim/tile/worker_view.h"
#include "sim/trap.h"

namespace superstep {

/// What a context of a tile did that the machine does not allow.
struct TileFault {
  std::uint64_t cycle = 0;
  std::string context;  ///< `supervisor`, `worker 2`
  std::uint32_t pc = 0;
  std::string cause;
  TrapKind kind = TrapKind::kProgram;
};

/// Why `Tile::run` came back.
struct TileStop {
  enum class Kind : std::uint8_t {
    kSync,
    kFault,
    kInterrupted,   ///< because the poll said so; the tile cannot go on
    kPaused,        ///< a replay has come to its cycle, `cycle` is when the next instruction issues
    kExchangeDone,  ///< port events are pending and the next instruction touches memory or launches
                    ///< workers; `cycle` is when it would issue
  };
  Kind kind = Kind::kSync;
  std::uint32_t zone = 0;   ///< of the `sync`
  std::uint64_t cycle = 0;  ///< of arrival, or of the fault
  std::uint32_t pc = 0;
};

/// A `runall` or `run` at a pc that its tile had not launched from before in the superstep.
struct TileLaunch {
  std::uint32_t pc = 0;
  std::uint32_t calls_step = 0;  ///< of the marked calls that were open
  std::uint64_t cycle = 0;       ///< when it began first
  std::uint64_t cycles = 0;      ///< from there, and later, to the next launch of another pc
  std::uint64_t runs = 0;        ///< trips of loops in which it launched
};

/// Launches of workers during one `Tile::run`.
struct TileLaunches {
  std::uint32_t count = 0;
  std::uint32_t first_pc = 0;          ///< of the first `runall` or `run`
  std::uint32_t first_calls_step = 0;  ///< of the marked calls that were open
  std::uint64_t first_cycle = 0;       ///< when it issued
  std::uint64_t last_exit_cycle = 0;   ///< when the last worker had left
  std::vector<TileLaunch> places;      ///< in order of their first launches
  // Where it launched last, since when, and after how many trips of loops.
  std::size_t last_place = 0;
  std::uint64_t last_cycle = 0, last_trips = 0;

  void clear() {
    count = first_pc = first_calls_step = 0;
    first_cycle = last_exit_cycle = 0;
    places.clear();
  }
  /// A launch that begins at cycle `begin`, after so many trips of loops.
  void add(std::uint32_t pc, std::uint32_t calls_step, std::uint64_t begin, std::uint64_t trips);
};

/// One tile: memory, worker contexts and supervisor. Runs alone from sync to sync; different tiles
/// may run on different host threads.
class Tile {
 public:
  /// `machine` and `code` outlive it. Its memory lies in `pages` (see TileMemory).
  Tile(const MachineConfig& machine, TileId id, CodeStore& code, std::byte* pages = nullptr);
  /// The place of one that is put there.
  Tile();
  ~Tile();
  Tile(Tile&&) noexcept;
  Tile& operator=(Tile&&) noexcept;

  [[nodiscard]] TileId id() const;
  [[nodiscard]] TileMemory& memory();

  /// From now on it is a fault when a worker of these launches writes a word that another of them,
  /// which runs at the same time, touches. `shadows` outlive the tile.
  void check_races(RaceChecks which, RaceShadows& shadows);

  /// From now on workers that run at the same time issue in turn, as on the chip, and not each to
  /// its end: for those that wait for one another.
  void take_turns();

  /// What runs its workers alone.
  [[nodiscard]] Engine& engine();
  /// From now on `engine` does, which outlives the tile.
  void set_engine(Engine& engine);

  /// From now on `observer`, which outlives the tile, sees each instruction; none when null.
  void observe(InstructionObserver* observer);

  /// From now on the runs of its workers are noted while there is room in any of `rooms`; no longer
  /// where there is none. It waits at a sync.
  void note_runs(SharedRooms rooms);

  /// Contexts that run for long ask `interrupted`, which outlives the tile, whether to stop.
  void poll(const std::function<bool()>& interrupted);

  /// Counts the steps of these calls, ascending by pc, while they are open.
  void mark_calls(std::vector<CallStack::Mark> calls);
  /// Counts the trips of these loops, ascending by pc; more than `limit` without a sync are a
  /// fault.
  void mark_loops(std::vector<LoopTrips::Mark> loops, std::optional<std::uint64_t> limit);
  [[nodiscard]] const LoopTrips& loops() const;
  /// What the open ones have together.
  [[nodiscard]] std::uint32_t calls_step() const;

  /// The supervisor will start at `pc`, with registers 0.
  void boot(std::uint32_t pc);

  /// Continues the supervisor, whose next instruction issues at `release_cycle`, to its next sync
  /// of a zone other than LOCAL or to a fault.
  TileStop run(std::uint64_t release_cycle);
  /// Has the host fetch the contexts that the next `run` needs first: many tiles take turns in its
  /// caches.
  void prefetch() const;
  /// Where the host has the code at which it goes on, as its contexts tell; null when they do not.
  [[nodiscard]] const std::byte* next_code() const;

  /// Goes on after kExchangeDone, from that stop's cycle and pc: the machine has moved the words
  /// and cleared the port events. Also to the next sync or fault.
  TileStop resume();

  /// What the exchange ports were told since the last `clear_port_events`, in order of issue.
  [[nodiscard]] const PortLog& port_log() const;
  [[nodiscard]] std::vector<PortEvent> port_events() const;
  /// The words of their sends that went out while workers were running, by cycle.
  [[nodiscard]] std::span<const SentWord> sent_beside_workers() const;
  /// Of both.
  void clear_port_events();

  /// Since boot.
  [[nodiscard]] InstructionCounts worker_instructions() const;
  /// Since boot: cycles from first issue to exit, added up over workers.
  [[nodiscard]] std::uint64_t worker_busy_cycles() const;
  /// The same of one worker.
  [[nodiscard]] std::uint64_t worker_busy_cycles(std::uint32_t worker) const;
  /// Of the last `run`.
  [[nodiscard]] const TileLaunches& launches() const;
  /// The same, where they are noted.
  [[nodiscard]] std::span<const WorkerRun> runs() const;
  [[nodiscard]] std::optional<TileFault> fault() const;

  /// A supervisor register ($m0 to $m15), for tests and diagnosis.
  [[nodiscard]] std::uint32_t supervisor_register(std::uint32_t number) const;
  /// Of its next instruction.
  [[nodiscard]] std::uint32_t supervisor_pc() const;
  [[nodiscard]] std::uint32_t workers() const;
  [[nodiscard]] WorkerView worker(std::uint32_t id) const;

  /// Of one that waits at a sync, but for the bytes of its memory. Port events are over then.
  void state(StateWriter& archive);
  void state(StateReader& archive);

  /// From now on the tile does again what it did: the interpreter runs workers, nothing is checked
  /// for races, and `observer` sees it instead of the one that it has, nobody when it is null.
  /// Until a state is read, and `observe` is called again.
  void replay(InstructionObserver* observer);
  /// The same, of what issues before `cycle`, where the tile stops: step by step in the order of
  /// cycles.
  void replay_until(std::uint64_t cycle, InstructionObserver& observer);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace superstep
