#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"
#include "isa/program_image.h"
#include "sim/code_place.h"
#include "sim/exchange/fabric.h"
#include "sim/host/turn.h"
#include "sim/observer.h"
#include "sim/run_inputs.h"
#include "sim/superstep_record.h"
#include "sim/tile/engine.h"
#include "sim/tile/race_checks.h"
#include "sim/tile_view.h"
#include "sim/trap.h"

namespace superstep {

/// Sums over the supersteps of a run.
struct RunTotals {
  Cycles cycles, exchange, compute, sync, host;
  std::uint64_t supersteps = 0, worker_instructions = 0;

  [[nodiscard]] Cycles device() const { return exchange + compute + sync; }
};

/// What a simulation is made with.
struct SimulationOptions {
  std::uint32_t threads = 1;
  /// A trap when the program is not done after so many, for loops that may not end; also after so
  /// many trips of loops without a superstep.
  std::optional<std::uint64_t> max_supersteps = {};
  /// Trap when workers of these launches, which run at the same time, share a word that one of them
  /// writes. Of the first ones that is not all: where addresses depend on data workers may meet
  /// later that did not meet then, and so may a launch that is new with one that is not.
  RaceChecks check_races = RaceChecks::kFirst;
  /// Workers that run at the same time issue in turn, as on the chip, and not each to its end: for
  /// those that wait for one another.
  bool take_turns = false;
  /// Of the exchange phases that repeat each so many-th is resolved again and must come out the
  /// same; none when it is 0.
  std::uint32_t check_repeats = 0;
  /// Polled between supersteps and, on any thread of the run, within long ones; once it is true it
  /// stays so. Stops the run after the last superstep that is whole.
  std::function<bool()> interrupted = {};
  /// The exchange fabric of the machine, and another one for looks inside supersteps, which it is
  /// given again; `Fabric` where it is empty. UserError (usage) when it gives none, or one whose
  /// results are not those of its ports.
  std::function<std::unique_ptr<FabricModel>(const MachineConfig&)> make_fabric = {};
  /// What runs workers, once each, where nobody looks at their steps; the interpreter where it is
  /// empty. The engines of several tiles run at a time. UserError (usage) when it gives none.
  MakeEngine make_engine = {};
};

/// Why a simulation stands still.
enum class StopKind : std::uint8_t {
  kSuperstep,    ///< as many supersteps as it was asked for are done
  kBreakpoint,   ///< it is where it was asked to stop
  kCall,         ///< the tiles wait for the host's next call
  kEnd,          ///< the program is done
  kTrap,         ///< for good
  kInterrupted,  ///< for good, if it was in the middle of a superstep
};

struct Stop {
  StopKind kind = StopKind::kEnd;
  std::optional<Trap> trap = {};  ///< of kTrap
};

/// Where a simulation stands, seen from the calls of its program.
enum class CallPlace : std::uint8_t {
  kBegin,    ///< nothing has run
  kBetween,  ///< the host comes for the first call, or its visit in front of the next one is over
  kInside,   ///< elsewhere: while the tiles wait for a call the last superstep is not over
};

/// Where `run_until` stops: where the first of these holds; at once where so many supersteps are
/// done, or the cycle has come.
struct Breakpoint {
  // At the opening of a barrier.
  std::optional<std::uint64_t> superstep = {};  ///< so many are done
  std::optional<std::uint32_t> step =
      {};  ///< the superstep that ended was of this step of the program
  // Inside a superstep as well.
  std::optional<Cycles> cycle = {};  ///< what comes before it has happened, and nothing else
  /// An instruction issues there next, later than where the simulation stands. Those inside visits
  /// of the host are passed over.
  std::optional<CodePlace> place = {};
};

/// A program image on a simulated machine. Runs from barrier opening to barrier opening, in which
/// it can be left standing, looked at and changed. Inside a superstep it can be looked at: its
/// tiles are shown as they are at a cycle, and the run goes on as if nobody had looked. What it
/// does depends on the image and the arguments alone, not on threads or on where it is stopped.
///
/// While it runs its callbacks, host program and observers may look at it, feed it and set
/// arguments, which count for what comes. What runs or calls it, adds to its parts, changes memory
/// or makes a checkpoint throws UserError (usage) then.
///
/// Throws MalformedInput for an image that has `problems`, UserError (usage) for none. Several
/// simulations may run at a time in one process; one belongs to one thread at a time.
class Simulation {
 public:
  explicit Simulation(std::shared_ptr<const ProgramImage> image, SimulationOptions options = {});
  explicit Simulation(ProgramImage image, SimulationOptions options = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  [[nodiscard]] const ProgramImage& image() const;

  /// Adds an observer, which outlives the simulation. Throws MalformedInput when it watches a tile
  /// without a program, or several as issued.
  void observe(Observer& observer);

  /// The value of an argument for the next call. The first call needs all of them, later calls send
  /// what was set since. Throws MalformedInput for one that is not there, that is of another type
  /// or has other bytes than its type, whose values a callback makes, or that is state which the
  /// program keeps and has been sent.
  void set_argument(std::uint32_t position, HostTensor value);
  /// Those from the first one on, but for state that the program keeps since the first call.
  void set_arguments(std::vector<HostTensor> values);
  /// Of the last call that is done; zeros before the first.
  [[nodiscard]] const HostTensor& result(std::uint32_t position) const;
  [[nodiscard]] std::uint32_t calls_done() const;
  [[nodiscard]] std::uint32_t calls_begun() const;
  /// Once the last one has begun.
  [[nodiscard]] std::optional<std::uint32_t> calls_in_all() const;
  /// At the last opening: whether whole calls come from there on.
  [[nodiscard]] CallPlace call_place() const;

  /// Calls the program with the arguments that are set; it runs when the simulation does.
  /// `is_last` tells it to end after this call. Throws UserError when the first call lacks
  /// arguments, or another call is going on.
  void begin_call(bool is_last = false);
  /// `begin_call` and `run`, which stops at kCall, or at kEnd after the last one.
  Stop call(bool is_last = false);
  /// `set_arguments` first, and the results; throws UserError when the call does not come to its
  /// end.
  std::vector<HostTensor> call(std::vector<HostTensor> arguments, bool is_last = false);

  /// Who decides what the host does when the tiles ask for a call: by default `begin_call`. The
  /// program sets the arguments of a call by `send_argument` before it answers.
  void set_host_program(HostProgram program);
  /// For host programs: the bytes of an argument of the next call; they stay valid during it. The
  /// first call needs all, else there is a trap of context `host`. Throws as `set_argument`.
  void send_argument(std::uint32_t position, std::span<const std::byte> bytes);

  // Streams by callbacks. Each call of one takes the host's callback latency, ahead of the tiles as
  // far as `host.prefetch` goes. What a callback throws, and a source without another value that
  // the program needs, is a trap of context `host`. None is empty, and a stream has a callback or
  // values that are set or fed: else they throw MalformedInput. Another callback takes the place of
  // a stream's: values that were made ahead come before its own.

  /// `source` makes the value of an argument for each call.
  void connect_argument(std::uint32_t position, StreamSource source);
  /// `sink` takes a result when the visit that brings it is over: as the host comes for the next
  /// call, and behind the last call before the program ends.
  void connect_result(std::uint32_t position, StreamSink sink);
  /// Another value for an infeed of the program. One that is empty when the program needs it is a
  /// trap of context `host`.
  void feed(std::uint32_t queue, HostTensor value);
  void connect_infeed(std::uint32_t queue, StreamSource source);
  /// Values that the callback of an infeed has made, those of the run before a checkpoint included;
  /// 0 where it has none.
  [[nodiscard]] std::uint64_t infeeds_made(std::uint32_t queue) const;
  /// Those of them that the program has taken: others were made ahead.
  [[nodiscard]] std::uint64_t infeeds_taken(std::uint32_t queue) const;
  /// Takes the first value that is in an outfeed, if there is one.
  [[nodiscard]] std::optional<HostTensor> take(std::uint32_t queue);
  void connect_outfeed(std::uint32_t queue, StreamSink sink);

  /// Runs until the program ends or waits for a call, or there is a trap or an interruption.
  Stop run();
  /// To look for a cycle or a place keeps the state of all tiles at each opening on the way, and
  /// for a place runs supersteps twice: what lies far ahead is reached sooner by a superstep first.
  Stop run_until(const Breakpoint& breakpoint);
  /// One superstep that takes time, or what is left of one.
  Stop step_superstep();
  /// `run_until` so many cycles later.
  Stop step_cycles(std::uint64_t cycles);
  /// Shows the tiles as they were so many cycles ago. Throws UserError (usage) when that is before
  /// the last opening that `run_until` or `step_cycles` kept, memory was changed since, or a visit
  /// of the host goes on.
  void step_back(std::uint64_t cycles);

  /// Where it stands: the cycle of a look inside a superstep, else of the last barrier opening.
  [[nodiscard]] Cycles now() const;
  /// Of supersteps that have ended.
  [[nodiscard]] const RunTotals& totals() const;
  /// Step of the last superstep, an index into ProgramInfo::steps; their number for code between
  /// steps.
  [[nodiscard]] std::uint32_t last_step() const;
  /// The step that a tile was in whose superstep was interrupted.
  [[nodiscard]] std::optional<std::uint32_t> step_inside() const;
  /// Cycle, superstep and op of the last step, and of the one that was interrupted inside a
  /// superstep: where the run got to.
  [[nodiscard]] std::string place() const;

  /// A tile that has a program; throws MalformedInput for another.
  [[nodiscard]] TileView tile(TileId id);

  /// Writes a checkpoint, whole or not at all: what the rest of the run depends on besides the
  /// image and the options. At an opening, or while the tiles wait for a call; elsewhere it throws
  /// UserError (usage). Throws InputOutputError. `inputs` are kept for who loads it.
  void save(const std::filesystem::path& path, const InputDigests& inputs = {});
  /// The simulation that was saved; it goes on as the other one did. The options may be others, but
  /// for `check_races` and a fabric with other results. Observers are added again, the host program
  /// is set and all streams that had callbacks are connected again before it runs; else that throws
  /// UserError (usage). Throws MalformedInput for a file that is no checkpoint of this version and
  /// this image, is damaged, or was saved with other inputs than these, if they are given.
  [[nodiscard]] static Simulation load(const std::filesystem::path& path,
                                       std::shared_ptr<const ProgramImage> image,
                                       SimulationOptions options = {},
                                       const std::optional<InputDigests>& inputs = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace superstep
