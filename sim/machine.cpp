#include "sim/machine.h"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <tuple>

#include "base/error.h"
#include "isa/timing.h"
#include "base/each_index.h"
#include "sim/exchange/fabric.h"
#include "sim/host/arguments.h"
#include "sim/host/link.h"
#include "sim/sync/barrier.h"
#include "sim/tile/tile.h"

namespace superstep {
namespace {

/// Finds the step that begins at a pc of a tile.
class StepTable {
 public:
  explicit StepTable(const ProgramImage& image)
      : marks_(image.marks), none_(static_cast<std::uint32_t>(image.info.steps.size())) {
    std::sort(marks_.begin(), marks_.end(), before);
  }

  /// `calls_step` is that of the open calls.
  [[nodiscard]] std::uint32_t find(TileId tile, std::uint32_t pc, std::uint32_t calls_step) const {
    const StepMark wanted{tile, pc, 0};
    const auto mark = std::lower_bound(marks_.begin(), marks_.end(), wanted, before);
    return mark != marks_.end() && mark->tile == tile && mark->pc == pc ? mark->step + calls_step
                                                                        : none_;
  }
  [[nodiscard]] std::uint32_t none() const { return none_; }

 private:
  static bool before(const StepMark& a, const StepMark& b) {
    return std::tie(a.tile, a.pc) < std::tie(b.tile, b.pc);
  }

  std::vector<StepMark> marks_;
  std::uint32_t none_;
};

bool earlier(const Trap& a, const Trap& b) {
  return std::tie(a.cycle, a.tile, a.context) < std::tie(b.cycle, b.tile, b.context);
}

/// What a tile did until it stopped, side by side for those who look at all tiles.
struct TileWork {
  std::uint64_t instructions = 0;     ///< of its workers, since boot
  std::uint64_t busy_cycles = 0;      ///< likewise
  std::span<const PortEvent> events;  ///< until its next run
  TileLaunches launches;
};

/// One run of an image: the tiles, their barrier, the fabric and the host in one time.
class Machine {
 public:
  Machine(const ProgramImage& image, const std::vector<HostTensor>& arguments,
          const RunOptions& options)
      : image_(image),
        options_(options),
        code_(image.machine),
        steps_(image),
        host_(image, arguments, options.calls),
        fabric_(image.machine, options.check_repeats),
        limit_(tbb::global_control::max_allowed_parallelism, std::max(1U, options.threads)),
        arena_(static_cast<int>(std::max(1U, options.threads))) {
    boot();
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  /// What many tiles have allocated takes as long to give back as to fill.
  ~Machine() {
    for_each_tile([&](std::size_t i) { const Tile gone = std::move(tiles_[i]); });
  }

  RunResult run();

 private:
  template <class Body>
  void for_each_tile(const Body& body);
  void boot();
  [[nodiscard]] bool is_asked_to_stop(std::size_t i, std::uint64_t from);
  void run_tiles();
  void note_work(std::size_t i);
  void move_words();
  void resume_tiles();
  void visit_host();
  [[nodiscard]] bool stopped_inside() const;
  [[nodiscard]] bool open_barrier();
  [[nodiscard]] bool is_past_limit();
  void record_superstep(Cycles opening, bool host);
  void name_steps(SuperstepRecord& record) const;
  void share_compute(SuperstepRecord& record, std::size_t critical) const;
  void add_trap(Cycles cycle, TileId tile, std::string context, std::uint32_t pc,
                std::string cause);
  void add_tile_faults();

  const ProgramImage& image_;
  const RunOptions& options_;
  CodeStore code_;
  StepTable steps_;
  HostLink host_;
  Fabric fabric_;
  tbb::global_control limit_;  ///< more threads than the host has are allowed
  tbb::task_arena arena_;

  HostPages memory_;                       ///< of all tiles: threads that map some each would wait
                                           ///< for one another
  std::vector<Tile> tiles_;                ///< by entry
  std::vector<Cycles> skew_;               ///< by entry
  std::vector<WaitingTile> arrivals_;      ///< by entry, of the current superstep
  std::vector<TileStop> stops_;            ///< by entry, of the current superstep
  std::vector<TileWork> work_;             ///< by entry, of the current superstep
  std::vector<std::uint32_t> sync_pc_;     ///< by entry: the sync that began this superstep
  std::vector<std::uint32_t> sync_calls_;  ///< by entry: step of the calls that were open there
  LoopTrips::Counts sync_trips_;           ///< of all tiles there, which go the same way
  std::vector<std::uint64_t> last_event_;  ///< by entry: one past the last port event, 0 without
  std::vector<std::uint8_t> resumed_;      ///< by entry: it used the words of this superstep
  std::vector<TilePhase> phases_;          ///< by entry
  Cycles begin_;                           ///< of the current superstep
  bool first_ = true;                      ///< no barrier has opened yet
  bool in_host_phase_ = false;
  FinishedPhase visit_;
  std::uint64_t exchange_bytes_ = 0;
  std::vector<PortTraffic> traffic_;                ///< by entry
  std::vector<std::uint64_t> instructions_before_;  ///< by entry
  std::vector<std::uint64_t> busy_before_;          ///< by entry
  RunResult result_;
};

template <class Body>
void Machine::for_each_tile(const Body& body) {
  if (options_.threads <= 1) {
    for (std::size_t i = 0; i < tiles_.size(); ++i) body(i);
    return;
  }
  arena_.execute([&] { each_index(tiles_.size(), 8, body); });
}

void Machine::boot() {
  const std::size_t count = image_.entries.size();
  if (count == 0) return;
  memory_ = map_host_pages(count * page_bytes(image_.machine));
  tiles_.reserve(count);
  std::vector<std::vector<const Segment*>> segments_of(count);
  std::vector<std::size_t> entry_of(image_.machine.tiles(), count);
  for (const TileEntry& entry : image_.entries) {
    SUPERSTEP_CHECK(index(entry.tile) < entry_of.size(), "an entry names a tile past the last");
    entry_of[index(entry.tile)] = tiles_.size();
    tiles_.emplace_back(image_.machine, entry.tile, code_,
                        memory_.get() + tiles_.size() * page_bytes(image_.machine));
    skew_.push_back(release_skew(image_.machine, entry.tile));
  }
  for (const Segment& segment : image_.segments) {
    for (const TileId tile : segment.tiles) {
      if (entry_of[index(tile)] != count) segments_of[entry_of[index(tile)]].push_back(&segment);
    }
  }
  std::vector<std::vector<CallStack::Mark>> calls_of(count);
  for (const StepMark& call : image_.calls) {
    calls_of[entry_of[index(call.tile)]].push_back({call.pc, call.step});
  }
  std::vector<std::vector<LoopTrips::Mark>> loops_of(count);
  for (const StepMark& loop : image_.loops) {
    loops_of[entry_of[index(loop.tile)]].push_back({loop.pc, loop.step});
  }
  for_each_tile([&](std::size_t i) {
    std::ranges::sort(calls_of[i], {}, &CallStack::Mark::pc);
    tiles_[i].mark_calls(std::move(calls_of[i]));
    std::ranges::sort(loops_of[i], {}, &LoopTrips::Mark::pc);
    tiles_[i].mark_loops(std::move(loops_of[i]), options_.max_supersteps);
    for (const Segment* segment : segments_of[i]) {
      const bool inside =
          tiles_[i].memory().write(segment->address, std::as_bytes(std::span(segment->bytes)));
      SUPERSTEP_CHECK(inside,
                      fmt::format("a segment at {:#x} lies outside tile memory", segment->address));
    }
    if (options_.check_races) tiles_[i].check_races();
    if (options_.interrupted) tiles_[i].poll(options_.interrupted);
    tiles_[i].boot(image_.entries[i].pc);
  });
  arrivals_.resize(count);
  stops_.resize(count);
  work_.resize(count);
  sync_pc_.resize(count);
  sync_calls_.resize(count);
  last_event_.resize(count);
  resumed_.resize(count);
  phases_.resize(count);
  traffic_.resize(count);
  instructions_before_.resize(count);
  busy_before_.resize(count);
}

void Machine::add_trap(Cycles cycle, TileId tile, std::string context, std::uint32_t pc,
                       std::string cause) {
  Trap trap{cycle, result_.totals.supersteps, tile, std::move(context), pc, std::move(cause)};
  if (!result_.trap || earlier(trap, *result_.trap)) result_.trap = std::move(trap);
}

void Machine::add_tile_faults() {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (stops_[i].kind != TileStop::Kind::kFault) continue;
    const std::optional<TileFault> fault = tiles_[i].fault();
    SUPERSTEP_CHECK(fault.has_value(), "a tile stopped at a fault without one");
    if (tiles_[i].loops().is_past_limit()) {
      const std::uint32_t loop = tiles_[i].loops().last();
      add_trap(
          Cycles(fault->cycle), tiles_[i].id(), fault->context, fault->pc,
          fmt::format("{} is not done after {} trips without a superstep: {}",
                      loop < image_.info.steps.size() ? image_.info.steps[loop].name : "a loop",
                      *options_.max_supersteps, result_.place(image_.info)));
      continue;
    }
    add_trap(Cycles(fault->cycle), tiles_[i].id(), fault->context, fault->pc, fault->cause);
  }
}

/// In the thread that ran the tile, and has its contexts at hand.
void Machine::note_work(std::size_t i) {
  work_[i].instructions = tiles_[i].worker_instructions();
  work_[i].busy_cycles = tiles_[i].worker_busy_cycles();
  work_[i].events = tiles_[i].port_events();
  work_[i].launches = tiles_[i].launches();
}

/// Asks once for tile i, which ran from that cycle, when that took long. A tile itself asks only in
/// loops that are long, but many that are shorter are long together.
bool Machine::is_asked_to_stop(std::size_t i, std::uint64_t from) {
  constexpr std::uint64_t kCyclesBetweenPolls = 1U << 14;
  if (stops_[i].kind == TileStop::Kind::kFault || stops_[i].cycle < from + kCyclesBetweenPolls) {
    return false;
  }
  if (!options_.interrupted || !options_.interrupted()) return false;
  stops_[i] = {.kind = TileStop::Kind::kInterrupted};
  return true;
}

/// Runs every tile until it waits, faults, or needs the words of this superstep's exchange.
void Machine::run_tiles() {
  std::atomic<bool> stopping = false;
  for_each_tile([&](std::size_t i) {
    if (stopping.load(std::memory_order_relaxed)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      return;
    }
    const std::uint64_t from = (first_ ? Cycles() : begin_ + skew_[i]).value();
    tiles_[i].clear_port_events();
    stops_[i] = tiles_[i].run(from);
    note_work(i);
    if (is_asked_to_stop(i, from)) stopping.store(true, std::memory_order_relaxed);
  });
  std::fill(last_event_.begin(), last_event_.end(), 0);
  std::fill(resumed_.begin(), resumed_.end(), std::uint8_t{0});
  exchange_bytes_ = 0;
  std::fill(traffic_.begin(), traffic_.end(), PortTraffic{});
}

/// Resolves the exchange of this superstep for all tiles at once.
void Machine::move_words() {
  std::vector<FabricPort> ports;
  std::vector<std::size_t> entries;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (work_[i].events.empty()) continue;
    TileMemory& memory = tiles_[i].memory();
    ports.push_back({image_.entries[i].tile,
                     work_[i].events,
                     {reinterpret_cast<std::byte*>(memory.data()), memory.size()}});
    entries.push_back(i);
  }
  if (ports.empty()) return;
  const FabricResult& moved = fabric_.resolve(ports);
  exchange_bytes_ = moved.bytes;
  if (moved.fault) {
    add_trap(Cycles(moved.fault->cycle), moved.fault->tile, "exchange", moved.fault->pc,
             moved.fault->cause);
  }
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const std::size_t i = entries[p];
    TileMemory& memory = tiles_[i].memory();
    if (moved.ports[p].lowest_write < memory.first_free_of_code()) memory.touched();
    traffic_[i] = moved.ports[p].traffic;
    const std::uint64_t last = moved.ports[p].last_event;
    last_event_[i] = last == 0 ? 0 : last + 1;
    if (stops_[i].kind == TileStop::Kind::kExchangeDone && last > stops_[i].cycle) {
      add_trap(
          Cycles(last), tiles_[i].id(), "exchange", stops_[i].pc,
          fmt::format("the exchange ends at cycle {}, after the tile went on with its program at "
                      "cycle {}",
                      last, stops_[i].cycle));
    }
  }
}

/// Lets the tiles that needed the words go on to their sync.
void Machine::resume_tiles() {
  const auto waits = [](const TileStop& stop) {
    return stop.kind == TileStop::Kind::kExchangeDone;
  };
  if (std::none_of(stops_.begin(), stops_.end(), waits)) return;
  std::atomic<bool> stopping = false;
  for_each_tile([&](std::size_t i) {
    if (!waits(stops_[i])) return;
    if (stopping.load(std::memory_order_relaxed)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      return;
    }
    const std::uint64_t from = stops_[i].cycle;
    tiles_[i].clear_port_events();
    resumed_[i] = 1;
    stops_[i] = tiles_[i].resume();
    note_work(i);
    if (is_asked_to_stop(i, from)) stopping.store(true, std::memory_order_relaxed);
  });
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (!resumed_[i] || work_[i].events.empty()) continue;
    const PortEvent& event = work_[i].events.front();
    add_trap(Cycles(event.cycle), tiles_[i].id(), "supervisor", event.pc,
             "an exchange instruction after this superstep's words were used; a sync must come "
             "between them");
  }
}

/// Moves what the host and the tiles exchange between two external barriers.
void Machine::visit_host() {
  std::vector<HostPort> ports;
  ports.reserve(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (stops_[i].kind == TileStop::Kind::kExchangeDone) {
      add_trap(Cycles(stops_[i].cycle), tiles_[i].id(), "supervisor", stops_[i].pc,
               "memory is touched or workers are launched inside a host phase");
    }
    ports.push_back({tiles_[i].id(), &tiles_[i].port_events(), &tiles_[i].memory()});
  }
  if (result_.trap) return;
  visit_ = host_.visit(ports);
  if (visit_.fault) {
    add_trap(std::max(begin_, Cycles(visit_.fault->cycle)), visit_.fault->tile, "host link",
             visit_.fault->pc, visit_.fault->cause);
  }
}

/// Opens the barrier at which all tiles wait; false at the end of the program or at a trap.
bool Machine::open_barrier() {
  const MachineConfig& machine = image_.machine;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    arrivals_[i] = {image_.entries[i].tile, Cycles(stops_[i].cycle), stops_[i].zone, stops_[i].pc};
  }
  const std::size_t critical = critical_of(arrivals_);
  const WaitingTile& last = arrivals_[critical];
  if (const auto fault = check_zones(arrivals_)) {
    const WaitingTile& blamed = arrivals_[fault->arrival];
    add_trap(last.cycle, blamed.tile, "supervisor", blamed.pc, fault->cause);
    return false;
  }
  const Cycles external(cycles_of_ns(machine, machine.sync.external_latency_ns));
  const std::uint32_t zone = last.zone;
  const auto refuse = [&](std::string cause) {
    add_trap(last.cycle, last.tile, "supervisor", last.pc, std::move(cause));
    return false;
  };

  if (in_host_phase_) {
    if (zone != kZoneExternal) {
      return refuse(
          fmt::format("a host phase must end at sync zone {}, not {}", kZoneExternal, zone));
    }
    // Assumed: the host's phase latency covers its own side of the closing sync. Charging the sync
    // latency after it too would put a 4 B copy above the 1,755 cycles that graphcore/tutorials
    // measured on a GC200; this rule was chosen with that number in view, so it is no check of it.
    record_superstep(std::max(last.cycle + external, begin_ + visit_.duration), true);
    in_host_phase_ = false;
    if (host_.visits() > 1 && options_.on_call) options_.on_call(host_.visits() - 1);
  } else if (zone == kZoneInternal) {
    const Cycles opening = internal_opening(machine, last.cycle);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      if (last_event_[i] <= opening.value()) continue;
      add_trap(Cycles(last_event_[i] - 1), tiles_[i].id(), "exchange", arrivals_[i].pc,
               fmt::format("a word is on its way when the next barrier opens at cycle {}",
                           opening.value()));
    }
    if (result_.trap) return false;
    record_superstep(opening, false);
  } else if (zone == kZoneExternal) {
    if (host_.done()) {
      return refuse(fmt::format("the program asks for a host phase after its last ({} calls)",
                                options_.calls));
    }
    record_superstep(last.cycle + external, false);
    in_host_phase_ = true;
  } else {
    if (!host_.done() && !image_.streams.empty()) {
      return refuse(fmt::format("the program ends after {} of {} host phases", host_.visits(),
                                options_.calls + 1));
    }
    record_superstep(last.cycle, false);
    return false;
  }
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    sync_pc_[i] = arrivals_[i].pc;
    sync_calls_[i] = tiles_[i].calls_step();
  }
  if (!image_.loops.empty()) sync_trips_ = tiles_[0].loops().counts();
  first_ = false;
  return true;
}

/// The sync that began the superstep names its exchange; the first launch, if it is marked, the
/// rest.
void Machine::name_steps(SuperstepRecord& record) const {
  record.step = steps_.none();
  record.exchange_step = steps_.none();
  for (std::size_t i = 0; i < tiles_.size() && !first_; ++i) {
    record.exchange_step = steps_.find(image_.entries[i].tile, sync_pc_[i], sync_calls_[i]);
    if (record.exchange_step != steps_.none()) break;
  }
  const auto launch_of = [&](std::size_t i) {
    const TileLaunches& launches = work_[i].launches;
    return launches.count == 0
               ? steps_.none()
               : steps_.find(image_.entries[i].tile, launches.first_pc, launches.first_calls_step);
  };
  record.step = launch_of(critical_of(arrivals_));
  for (std::size_t i = 0; i < tiles_.size() && record.step == steps_.none(); ++i) {
    record.step = launch_of(i);
  }
  if (record.step == steps_.none()) record.step = record.exchange_step;
  if (record.exchange_step == steps_.none()) record.exchange_step = record.step;
  const auto loop = loop_around(image_.info.steps, record.exchange_step);
  if (!loop) return;
  const auto trips = std::ranges::find(sync_trips_, *loop, &LoopTrips::Counts::value_type::first);
  if (trips != sync_trips_.end()) record.trip = trips->second;
}

/// Shares the critical tile's compute cycles among its steps, from each launch to the next one of
/// another step. What comes before the first belongs to it.
void Machine::share_compute(SuperstepRecord& record, std::size_t critical) const {
  const TileId tile = image_.entries[critical].tile;
  const TileLaunches& launches = work_[critical].launches;
  record.shares.push_back({record.step});
  std::uint64_t shared = 0;
  std::size_t share = 0;
  for (std::size_t l = 0; l < launches.places.size(); ++l) {
    const TileLaunch& launch = launches.places[l];
    std::uint64_t cycles = launch.cycles;
    if (l == launches.last_place) cycles += arrivals_[critical].cycle.value() - launches.last_cycle;
    const std::uint32_t step = steps_.find(tile, launch.pc, launch.calls_step);
    if (step != steps_.none()) {
      const auto at = std::ranges::find(record.shares, step, &ComputeShare::step);
      share = static_cast<std::size_t>(at - record.shares.begin());
      if (at == record.shares.end()) record.shares.push_back({step});
      record.shares[share].runs = std::max(record.shares[share].runs, launch.runs);
    }
    record.shares[share].cycles += cycles;
    shared += cycles;
  }
  // Launches that the exchange goes on beside begin before what counts as computing.
  const std::uint64_t computed = record.compute.value();
  if (shared < computed) record.shares.front().cycles += computed - shared;
  for (ComputeShare& of_step : record.shares) {
    const std::uint64_t before = std::min(of_step.cycles, shared - std::min(shared, computed));
    of_step.cycles -= before;
    shared -= before;
  }
}

void Machine::record_superstep(Cycles opening, bool host) {
  std::uint64_t instructions = 0, h_bytes = 0;
  std::uint32_t messages = 0;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const std::uint64_t arrival = arrivals_[i].cycle.value();
    const std::uint64_t ports_done = std::clamp(last_event_[i], begin_.value(), arrival);
    const std::uint64_t issued = work_[i].instructions - instructions_before_[i];
    const std::uint64_t busy = work_[i].busy_cycles - busy_before_[i];
    instructions_before_[i] += issued;
    busy_before_[i] += busy;
    instructions += issued;
    phases_[i] = {};
    if (host) continue;
    const PortTraffic& traffic = traffic_[i];
    const std::uint64_t exchange = ports_done - begin_.value();
    h_bytes = std::max({h_bytes, traffic.sent_bytes, traffic.received_bytes});
    messages += traffic.messages;
    phases_[i] = {.exchange = exchange,
                  .compute = arrival - ports_done,
                  .sync = opening.value() - arrival,
                  .exchange_idle = exchange - std::min(exchange, traffic.busy_cycles),
                  .sent_bytes = traffic.sent_bytes,
                  .received_bytes = traffic.received_bytes,
                  .instructions = issued,
                  .worker_busy = busy};
  }
  RunTotals& totals = result_.totals;
  if (opening > begin_) {
    const std::size_t critical = critical_of(arrivals_);
    SuperstepRecord record;
    record.number = totals.supersteps;
    record.begin = begin_;
    record.end = opening;
    record.critical = image_.entries[critical].tile;
    if (host) {
      record.host = opening - begin_;
      record.host_bytes = visit_.bytes;
      record.transfers = visit_.transfers;
    } else {
      record.exchange = Cycles(phases_[critical].exchange);
      record.compute = Cycles(phases_[critical].compute);
      record.sync = opening - arrivals_[critical].cycle;
      record.exchange_bytes = exchange_bytes_;
      record.h_bytes = h_bytes;
      record.messages = messages;
    }
    if (host_.visits() > 0) record.call = std::min(host_.visits(), options_.calls) - 1;
    record.worker_instructions = instructions;
    record.tiles = &phases_;
    name_steps(record);
    if (!host) share_compute(record, critical);
    result_.last_step = record.step;
    if (options_.on_superstep) options_.on_superstep(record);
    totals.exchange += record.exchange;
    totals.compute += record.compute;
    totals.sync += record.sync;
    totals.host += record.host;
    totals.worker_instructions += record.worker_instructions;
    ++totals.supersteps;
  }
  totals.cycles = opening;
  begin_ = opening;
}

/// Whether a tile was interrupted in the middle of this superstep.
bool Machine::stopped_inside() const {
  return std::any_of(stops_.begin(), stops_.end(), [](const TileStop& stop) {
    return stop.kind == TileStop::Kind::kInterrupted;
  });
}

bool Machine::is_past_limit() {
  if (!options_.max_supersteps || result_.totals.supersteps < *options_.max_supersteps) {
    return false;
  }
  const WaitingTile& last = arrivals_[critical_of(arrivals_)];
  add_trap(begin_, last.tile, "supervisor", last.pc,
           fmt::format("the program is not done after {} supersteps: {}", *options_.max_supersteps,
                       result_.place(image_.info)));
  return true;
}

RunResult Machine::run() {
  while (!tiles_.empty()) {
    run_tiles();
    result_.interrupted = stopped_inside();
    if (result_.interrupted) break;
    if (in_host_phase_) {
      visit_host();
    } else {
      move_words();
      if (!result_.trap) resume_tiles();
    }
    result_.interrupted = stopped_inside();
    if (result_.interrupted) break;
    add_tile_faults();
    if (result_.trap || !open_barrier() || is_past_limit()) break;
    if (options_.interrupted && options_.interrupted()) {
      result_.interrupted = true;
      break;
    }
  }
  result_.results = host_.take_results();
  return std::move(result_);
}

}  // namespace

RunResult run_image(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                    const RunOptions& options) {
  check_arguments(image, arguments, options.calls);
  return Machine(image, arguments, options).run();
}

}  // namespace superstep
