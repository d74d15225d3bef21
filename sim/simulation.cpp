#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "isa/image_file.h"
#include "sim/checkpoint.h"
#include "sim/chip/chip.h"
#include "sim/chip/step_table.h"
#include "sim/chip/tile_pages.h"
#include "sim/exchange/checked_fabric.h"
#include "sim/host/calls.h"
#include "sim/look_inside.h"
#include "sim/named.h"
#include "sim/task_arena.h"
#include "sim/watch_feed.h"

namespace superstep {

class Simulation::Impl {
 public:
  Impl(std::shared_ptr<const ProgramImage> image, SimulationOptions options)
      : image_(std::move(image)),
        options_(std::move(options)),
        tile_options_{options_.check_races, options_.take_turns, options_.max_supersteps,
                      options_.interrupted, options_.make_engine},
        arena_(options_.threads),
        kernel_([this](std::size_t count, const std::function<void(std::size_t)>& body) {
          arena_.each(count, 1, body);
        }),
        last_step_(static_cast<std::uint32_t>(image_->info.steps.size())),
        chip_(
            ChipId{0}, *image_, tile_options_,
            [this](const MachineConfig& machine) { return make_fabric(machine); }, arena_, kernel_,
            traps_, [this](const SuperstepRecord& record) { add(record); }),
        calls_(*image_, chip_.host()),
        feed_(chip_.tiles()),
        look_(
            chip_.tiles(), [this] { return make_fabric(image_->machine); }, arena_) {
    access_.when_changed = [this] { forget_opening(); };
  }

  static constexpr const char* kRuns =
      "the simulation runs, and a callback or an observer of it may not run, call or change it: do "
      "so when it has stopped";

  /// Where a run stops, besides at its end.
  struct Goal {
    std::function<std::optional<StopKind>()> is_there = [] { return std::nullopt; };
    std::optional<std::uint64_t> superstep = {};
    std::optional<Cycles> cycle = {};
    std::optional<CodePlace> place = {};

    [[nodiscard]] bool is_inside() const { return cycle || place; }
  };

  Stop advance(const Goal& goal) {
    check_stands();
    const Cycles from = inside_ ? *inside_ + Cycles(1) : Cycles();
    if (is_over(goal)) return {StopKind::kBreakpoint};
    leave();
    calls_.check_connected();
    if (calls_.has_program() && chip_.barrier(kZoneExternal)->waits_for_host()) {
      kernel_.send({.time = kernel_.now(), .to = &chip_.host(), .message = HostCall{}});
    }
    return run([&] { return run_to(goal, from); });
  }

  /// It stands at a goal, or behind it.
  [[nodiscard]] bool is_over(const Goal& goal) const {
    if (last_stop_ || chip_.has_ended()) return false;
    return has_done(goal) || (goal.cycle && now() >= *goal.cycle);
  }

  /// As many supersteps as the goal says.
  [[nodiscard]] bool has_done(const Goal& goal) const {
    return goal.superstep && totals_.supersteps >= *goal.superstep;
  }

  /// Runs `act`, with nothing of it called or changed by the user's parts. What one of those throws
  /// leaves the machine in between, for good.
  template <class Act>
  Stop run(const Act& act) {
    is_running_ = true;
    access_.why_not_changed = kRuns;
    try {
      const Stop stop = act();
      is_running_ = false;
      if (!inside_) access_.why_not_changed.clear();
      return stop;
    } catch (...) {
      is_running_ = false;
      is_broken_ = true;
      throw;
    }
  }

  /// The run, to a goal that lies later than `from`.
  Stop run_to(const Goal& goal, Cycles from) {
    while (true) {
      if (last_stop_) return *last_stop_;
      if (chip_.has_ended()) return {StopKind::kEnd};
      if (goal.is_inside()) {
        if (const std::optional<Stop> stop = stop_inside(goal, from)) return *stop;
      } else if (look_.opening() && is_at_opening()) {
        forget_opening();
      }
      const std::uint64_t supersteps = totals_.supersteps;
      if (!kernel_.step()) return stand_still();
      // A trap of the cycle in which the program ends is behind its end.
      while (chip_.has_ended() && kernel_.next() == kernel_.now()) kernel_.step();
      if (traps_.trap()) return trap(*traps_.trap());
      if (exceeds_limit_) return trap(limit_trap());
      if (totals_.supersteps == supersteps) continue;
      if (is_at_limit() && !chip_.has_ended() && !may_end_here()) return trap(limit_trap());
      if (!chip_.has_ended() && options_.interrupted && options_.interrupted()) {
        return {StopKind::kInterrupted};
      }
      if (has_done(goal)) return {StopKind::kBreakpoint};
      if (const std::optional<StopKind> kind = goal.is_there()) return {*kind};
    }
  }

  /// Throws UserError (usage) while it runs, and when an exception left the machine in between.
  void check_stands() const {
    if (is_running_) throw UserError(ExitCode::kUsage, kRuns);
    if (!is_broken_) return;
    throw UserError(ExitCode::kUsage, "an exception left the simulation inside superstep " +
                                          std::to_string(totals_.supersteps) +
                                          ": make or load another one");
  }

  /// A superstep begins next.
  [[nodiscard]] bool is_at_opening() const {
    return kernel_.has_definite() && kernel_.all_of([](const Event<Message>& event) {
      return std::holds_alternative<Opening>(event.message) ||
             std::holds_alternative<HostCall>(event.message);
    });
  }

  /// Stops before what happens next when that is at the goal's cycle, or behind its place.
  std::optional<Stop> stop_inside(const Goal& goal, Cycles from) {
    if (is_at_opening()) {
      const Cycles opening = kernel_.first_definite();
      if (goal.cycle && opening >= *goal.cycle) return Stop{StopKind::kBreakpoint};
      look_.keep(opening);
      found_.reset();
      return std::nullopt;
    }
    const std::optional<Cycles> next = kernel_.next();
    if (kernel_.has_definite() || !next) return std::nullopt;
    std::optional<Cycles> until = goal.cycle;
    if (goal.place && !chip_.is_visiting()) {
      if (!find(*goal.place)) return Stop{StopKind::kInterrupted};
      if (const std::optional<Cycles> hit = next_at(from)) {
        until = std::min(until.value_or(*hit), *hit);
      }
    }
    if (!until || *next < *until) return std::nullopt;
    // What is at the opening is there, not inside of what was before.
    if (*next == *until && opens_next()) return std::nullopt;
    return show(*until);
  }

  /// All tiles wait at the barrier that opens next.
  [[nodiscard]] bool opens_next() const {
    return kernel_.next_is(
        [](const Event<Message>& event) { return std::holds_alternative<Opening>(event.message); });
  }

  /// Finds where the instruction issues in this superstep; false when that is interrupted.
  bool find(const CodePlace& place) {
    if (!look_.opening() || (found_ && found_->place == place)) return true;
    std::optional<std::vector<Cycles>> cycles = look_.find(place);
    look_.leave();
    feed_.attach();
    if (!cycles) return false;
    found_ = {place, *std::move(cycles)};
    return true;
  }

  /// When it issues next.
  std::optional<Cycles> next_at(Cycles from) const {
    if (!found_) return std::nullopt;
    const auto hit = std::ranges::lower_bound(found_->cycles, from);
    return hit == found_->cycles.end() ? std::nullopt : std::optional(*hit);
  }

  /// The superstep that goes on cannot be shown any more.
  void forget_opening() {
    look_.forget();
    found_.reset();
  }

  Stop show(Cycles cycle) {
    inside_ = cycle;
    if (chip_.is_visiting()) {
      access_.why_not_seen = fmt::format(
          "cycle {} is inside a visit of the host, whose words are not dated: run to its end, as "
          "by step_superstep",
          cycle.value());
    } else if (!look_.opening()) {
      if (!opens_next()) {
        access_.why_not_seen = fmt::format(
            "cycle {} is inside a superstep whose opening was not kept: run to the next one, as by "
            "step_superstep",
            cycle.value());
      }
    } else if (!look_.show(cycle)) {
      leave();
      return last_stop_.emplace(Stop{StopKind::kInterrupted});
    }
    access_.why_not_changed = fmt::format(
        "cycle {} is inside a superstep: memory can be changed at openings, as behind "
        "step_superstep",
        cycle.value());
    return {StopKind::kBreakpoint};
  }

  /// The tiles are where the run is.
  void leave() {
    if (look_.is_shown()) {
      look_.leave();
      feed_.attach();
    }
    inside_.reset();
    access_.why_not_seen.clear();
    access_.why_not_changed.clear();
  }

  [[nodiscard]] Cycles now() const { return inside_.value_or(totals_.cycles); }

  void step_back(std::uint64_t cycles) {
    check_stands();
    const Cycles cycle = now() - std::min(now(), Cycles(cycles));
    if (const std::string reason = why_not_shown(cycle); !reason.empty()) {
      throw UserError(ExitCode::kUsage,
                      fmt::format("cycle {} cannot be shown: {}", cycle.value(), reason));
    }
    (void)run([&] { return show(cycle); });
  }

  /// Why the tiles cannot be brought back to a cycle; empty where they can.
  [[nodiscard]] std::string why_not_shown(Cycles cycle) const {
    const std::optional<Cycles> opening = look_.opening();
    if (!opening) return "no opening was kept, as run_until a cycle and step_cycles do";
    if (cycle < *opening) {
      return fmt::format("the last opening that was kept is at cycle {}", opening->value());
    }
    if (!chip_.is_visiting()) return {};
    return fmt::format(
        "a visit of the host goes on since cycle {}, whose words are not dated: run to its end, as "
        "by step_superstep",
        opening->value());
  }

  /// Of everything but memories, callbacks and observers.
  template <class Archive>
  void state(Archive& archive) {
    archive(kernel_, chip_, calls_, totals_, last_step_, call_place_, last_, last_pc_);
  }

  void save(const std::filesystem::path& path, const InputDigests& inputs) {
    check_stands();
    const bool is_waiting = kernel_.all_of([](const Event<Message>& event) {
      return std::holds_alternative<HostCall>(event.message);
    });
    if (look_.is_shown() || last_stop_ || !(is_at_opening() || is_waiting)) {
      throw UserError(ExitCode::kUsage,
                      fmt::format("a checkpoint is taken at an opening, and the simulation stands "
                                  "inside superstep {}: step_superstep goes to the next one",
                                  totals_.supersteps));
    }
    StateWriter writer;
    state(writer);
    Checkpoint checkpoint{.image_sha256 = digest_of_what_runs(*image_),
                          .cycle = totals_.cycles.value(),
                          .supersteps = totals_.supersteps,
                          .calls_done = calls_.done(),
                          .inputs = inputs};
    for (const std::byte byte : writer.written()) {
      checkpoint.state.push_back(std::to_integer<std::uint8_t>(byte));
    }
    write_codes(writer.codes(), checkpoint);
    write_pages(chip_.tiles(), checkpoint);
    write_checkpoint(path, checkpoint);
  }

  void load(const std::filesystem::path& path, const std::optional<InputDigests>& inputs) {
    const Checkpoint checkpoint = read_checkpoint(path, *image_);
    if (inputs) check_inputs(path, checkpoint.inputs, *inputs);
    try {
      read_pages(checkpoint, chip_.tiles());
      const std::vector<const WorkerCode*> codes = read_codes(checkpoint, chip_.tiles());
      StateReader reader(std::as_bytes(std::span(checkpoint.state)), codes);
      state(reader);
      if (!reader.is_done()) throw std::runtime_error("there is more than its state");
    } catch (const std::runtime_error& error) {
      refuse_checkpoint(path, error.what());
    }
    calls_.lack_program();
  }

  std::unique_ptr<FabricModel> make_fabric(const MachineConfig& machine) const {
    if (options_.make_fabric) {
      return std::make_unique<CheckedFabric>(options_.make_fabric(machine));
    }
    return std::make_unique<Fabric>(machine, options_.check_repeats);
  }

  /// No event is left.
  Stop stand_still() {
    if (chip_.tiles().is_interrupted()) {
      step_inside_ = step_that_was_interrupted();
      return last_stop_.emplace(Stop{StopKind::kInterrupted});
    }
    if (!chip_.barrier(kZoneExternal)->waits_for_host()) {
      return trap(chip_.deadlock(kernel_.now(), kernel_.deadlock()));
    }
    if (calls_.end_before_visit()) tell_of_call();
    return {StopKind::kCall};
  }

  Stop trap(Trap trap) {
    if (is_at_limit() && trap.cycle >= totals_.cycles) trap = limit_trap();
    feed_.deliver(trap.cycle);
    trap.superstep = totals_.supersteps;
    return last_stop_.emplace(Stop{StopKind::kTrap, std::move(trap)});
  }

  /// As many supersteps are done as may be.
  [[nodiscard]] bool is_at_limit() const {
    return options_.max_supersteps && totals_.supersteps >= *options_.max_supersteps;
  }

  Trap limit_trap() {
    const std::string step = name_of_step(last_step_);
    return {.cycle = totals_.cycles,
            .tile = last_,
            .context = "supervisor",
            .pc = last_pc_,
            .cause = fmt::format("the program is not done after {} supersteps{}",
                                 *options_.max_supersteps, step.empty() ? "" : ", behind " + step),
            .kind = TrapKind::kLimit};
  }

  /// Whether the program can end without another superstep that takes time: all tiles leave a
  /// barrier at its opening.
  [[nodiscard]] bool may_end_here() {
    TileArray& tiles = chip_.tiles();
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (tiles.release(i, totals_.cycles) > totals_.cycles) return false;
    }
    return true;
  }

  /// Of what a tile launched last that was stopped in the middle of a superstep.
  [[nodiscard]] std::optional<std::uint32_t> step_that_was_interrupted() {
    const StepTable steps(*image_);
    TileArray& tiles = chip_.tiles();
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const TileLaunches& launches = tiles.work(i).launches;
      // Those that had not begun have what they launched before.
      const bool has_launched = launches.count != 0 && launches.first_cycle >= now().value();
      if (tiles.stop(i).kind != TileStop::Kind::kInterrupted || !has_launched) continue;
      const TileLaunch& last = launches.places.at(launches.last_place);
      const std::uint32_t step = steps.find(tiles.id(i), last.pc, last.calls_step);
      if (step != steps.none()) return step;
    }
    return std::nullopt;
  }

  /// With its place in the program; empty for code between steps.
  [[nodiscard]] std::string name_of_step(std::uint32_t number) const {
    if (number >= image_->info.steps.size()) return {};
    return named(image_->info.steps[number].name, image_->info.steps[number].source);
  }

  [[nodiscard]] std::string place() const {
    std::string text = fmt::format("cycle {}, superstep {}", now().value(), totals_.supersteps);
    if (const std::string step = name_of_step(last_step_); !step.empty()) text += ", " + step;
    if (step_inside_) text += ", inside " + name_of_step(*step_inside_);
    return text;
  }

  void begin_call(bool is_last) {
    check_stands();
    if (!calls_.has_program() && (last_stop_ || chip_.has_ended())) {
      throw UserError(ExitCode::kUsage, "the program has ended; nothing can be called any more");
    }
    calls_.begin(is_last);
    kernel_.send({.time = kernel_.now(), .to = &chip_.host(), .message = HostCall{}});
  }

  void tell_of_call() {
    for (Observer* observer : observers_) observer->on_call(calls_.done());
  }

  void add(const SuperstepRecord& record) {
    exceeds_limit_ = is_at_limit();
    if (exceeds_limit_) return;
    last_ = record.critical;
    last_pc_ = chip_.tiles().stop(chip_.tiles().entry_of(last_).value()).pc;
    feed_.deliver();
    for (Observer* observer : observers_) observer->on_superstep(record);
    totals_.exchange += record.exchange;
    totals_.compute += record.compute;
    totals_.sync += record.sync;
    totals_.host += record.host;
    totals_.worker_instructions += record.worker_instructions.all;
    totals_.cycles = record.end;
    ++totals_.supersteps;
    last_step_ = record.step;
    feed_.open(totals_.supersteps);
    const bool comes_first = chip_.host().visits() == 0 && chip_.host().is_coming();
    const bool is_between = (comes_first || chip_.is_visiting()) && !chip_.host().is_inside_call();
    call_place_ = is_between ? CallPlace::kBetween : CallPlace::kInside;
    if (chip_.is_visiting() && calls_.end_by_visit()) tell_of_call();
  }

  /// When the instruction at a place issues.
  struct Found {
    CodePlace place;
    std::vector<Cycles> cycles;
  };

  std::shared_ptr<const ProgramImage> image_;
  SimulationOptions options_;
  TileOptions tile_options_;
  TaskArena arena_;
  MachineKernel kernel_;
  TrapReporter traps_;
  std::vector<Observer*> observers_;
  RunTotals totals_;
  std::uint32_t last_step_;
  CallPlace call_place_ = CallPlace::kBegin;
  TileId last_{};                             ///< to arrive at the last barrier
  std::uint32_t last_pc_ = 0;                 ///< of its sync
  bool exceeds_limit_ = false;                ///< a superstep has ended that should not have begun
  std::optional<Stop> last_stop_;             ///< after which nothing runs any more
  std::optional<std::uint32_t> step_inside_;  ///< that was interrupted before its superstep ended
  bool is_running_ = false;
  bool is_broken_ = false;  ///< by an exception
  Chip chip_;
  Calls calls_;
  WatchFeed feed_;
  LookInside look_;
  std::optional<Cycles> inside_;  ///< where it stands, if not at an opening
  std::optional<Found> found_;    ///< in the superstep that goes on
  TileAccess access_;
};

Simulation::Simulation(std::shared_ptr<const ProgramImage> image, SimulationOptions options) {
  if (!image) throw UserError(ExitCode::kUsage, "the image of a simulation is null");
  if (std::vector<Problem> found = problems(*image); !found.empty()) {
    throw MalformedInput(std::move(found));
  }
  impl_ = std::make_unique<Impl>(std::move(image), std::move(options));
}
Simulation::Simulation(ProgramImage image, SimulationOptions options)
    : Simulation(std::make_shared<const ProgramImage>(std::move(image)), std::move(options)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

const ProgramImage& Simulation::image() const { return *impl_->image_; }

void Simulation::observe(Observer& observer) {
  impl_->check_stands();
  impl_->feed_.add(observer);
  impl_->feed_.open(impl_->totals_.supersteps);
  impl_->observers_.push_back(&observer);
}

void Simulation::set_argument(std::uint32_t position, HostTensor value) {
  impl_->calls_.set_argument(position, std::move(value));
}
void Simulation::set_arguments(std::vector<HostTensor> values) {
  impl_->calls_.set_arguments(std::move(values));
}
const HostTensor& Simulation::result(std::uint32_t position) const {
  return impl_->calls_.result(position);
}
std::uint32_t Simulation::calls_done() const { return impl_->calls_.done(); }
std::uint32_t Simulation::calls_begun() const { return impl_->calls_.begun(); }
std::optional<std::uint32_t> Simulation::calls_in_all() const {
  return impl_->chip_.host().calls();
}
CallPlace Simulation::call_place() const { return impl_->call_place_; }

void Simulation::begin_call(bool is_last) { impl_->begin_call(is_last); }

Stop Simulation::call(bool is_last) {
  begin_call(is_last);
  return run();
}

std::vector<HostTensor> Simulation::call(std::vector<HostTensor> arguments, bool is_last) {
  impl_->check_stands();
  set_arguments(std::move(arguments));
  const Stop stop = call(is_last);
  if (stop.kind == StopKind::kTrap) throw UserError(ExitCode::kFailedCheck, stop.trap->text());
  if (stop.kind == StopKind::kInterrupted) {
    throw UserError(ExitCode::kInterrupted, "interrupted at " + place());
  }
  return impl_->calls_.results();
}

void Simulation::set_host_program(HostProgram program) {
  impl_->check_stands();
  impl_->calls_.set_program(std::move(program));
}
void Simulation::send_argument(std::uint32_t position, std::span<const std::byte> bytes) {
  impl_->calls_.send_argument(position, bytes);
}

void Simulation::connect_argument(std::uint32_t position, StreamSource source) {
  impl_->check_stands();
  impl_->calls_.connect_argument(position, std::move(source));
}
void Simulation::connect_result(std::uint32_t position, StreamSink sink) {
  impl_->check_stands();
  impl_->calls_.connect_result(position, std::move(sink));
}
void Simulation::feed(std::uint32_t queue, HostTensor value) {
  impl_->calls_.feed(queue, std::move(value));
}
void Simulation::connect_infeed(std::uint32_t queue, StreamSource source) {
  impl_->check_stands();
  impl_->calls_.connect_infeed(queue, std::move(source));
}
std::uint64_t Simulation::infeeds_made(std::uint32_t queue) const {
  return impl_->chip_.host().made(queue);
}
std::uint64_t Simulation::infeeds_taken(std::uint32_t queue) const {
  return impl_->chip_.host().taken(queue);
}
std::optional<HostTensor> Simulation::take(std::uint32_t queue) {
  return impl_->calls_.take(queue);
}
void Simulation::connect_outfeed(std::uint32_t queue, StreamSink sink) {
  impl_->check_stands();
  impl_->calls_.connect_outfeed(queue, std::move(sink));
}

Stop Simulation::run() { return impl_->advance({}); }

Stop Simulation::run_until(const Breakpoint& breakpoint) {
  const auto is_there = [&]() -> std::optional<StopKind> {
    const bool holds = breakpoint.step && impl_->last_step_ == *breakpoint.step;
    return holds ? std::optional(StopKind::kBreakpoint) : std::nullopt;
  };
  if (breakpoint.place) (void)tile(breakpoint.place->tile);
  return impl_->advance({is_there, breakpoint.superstep, breakpoint.cycle, breakpoint.place});
}

Stop Simulation::step_superstep() {
  return impl_->advance({[] { return std::optional(StopKind::kSuperstep); }});
}

Stop Simulation::step_cycles(std::uint64_t cycles) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - now().value();
  return run_until({.cycle = now() + Cycles(std::min(cycles, most))});
}

void Simulation::step_back(std::uint64_t cycles) { impl_->step_back(cycles); }

Cycles Simulation::now() const { return impl_->now(); }
const RunTotals& Simulation::totals() const { return impl_->totals_; }
std::uint32_t Simulation::last_step() const { return impl_->last_step_; }
std::optional<std::uint32_t> Simulation::step_inside() const { return impl_->step_inside_; }
std::string Simulation::place() const { return impl_->place(); }

TileView Simulation::tile(TileId id) {
  const std::optional<std::size_t> entry = impl_->chip_.tiles().entry_of(id);
  if (!entry) {
    throw MalformedInput(fmt::format("tile {} has no program; {} tiles have one", index(id),
                                     impl_->chip_.tiles().size()));
  }
  return TileView(impl_->chip_.tiles().tile(*entry), impl_->access_);
}

void Simulation::save(const std::filesystem::path& path, const InputDigests& inputs) {
  impl_->save(path, inputs);
}

Simulation Simulation::load(const std::filesystem::path& path,
                            std::shared_ptr<const ProgramImage> image, SimulationOptions options,
                            const std::optional<InputDigests>& inputs) {
  Simulation simulation(std::move(image), std::move(options));
  simulation.impl_->load(path, inputs);
  return simulation;
}

}  // namespace superstep
