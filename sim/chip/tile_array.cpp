#include "sim/chip/tile_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/overloaded.h"
#include "isa/timing.h"
#include "sim/chip/chip.h"

namespace superstep {
namespace {

/// Of one range that a thread takes.
constexpr std::size_t kTilesARange = 8;

bool waits_for_words(const TileStop& stop) { return stop.kind == TileStop::Kind::kExchangeDone; }

/// Marks of each tile, ascending by pc.
template <class Mark>
std::vector<std::vector<Mark>> marks_of(const std::vector<StepMark>& marks,
                                        const TileArray& tiles) {
  std::vector<std::vector<Mark>> out(tiles.size());
  for (const StepMark& mark : marks) {
    if (const auto entry = tiles.entry_of(mark.tile)) out[*entry].push_back({mark.pc, mark.step});
  }
  return out;
}

}  // namespace

TileArray::TileArray(Chip& chip, const ProgramImage& image, const TileOptions& options,
                     TaskArena& arena)
    : MachineProcess(process_place(chip.id(), Rank::kTiles)),
      chip_(chip),
      image_(image),
      options_(options),
      arena_(arena),
      code_(image.machine),
      race_shadows_(image.machine) {
  if (!image.entries.empty()) boot();
}

TileArray::~TileArray() {
  // The host takes the pages of the memories back on one thread; others free the rest meanwhile.
  arena_.each(2, 1, [&](std::size_t part) {
    if (part == 0) return memory_.reset();
    arena_.each(tiles_.size(), kTilesARange,
                [&](std::size_t i) { const Tile gone = std::move(tiles_[i]); });
  });
}

std::optional<std::size_t> TileArray::entry_of(TileId tile) const {
  const auto entry = std::ranges::lower_bound(image_.entries, tile, {}, &TileEntry::tile);
  if (entry == image_.entries.end() || entry->tile != tile) return std::nullopt;
  return static_cast<std::size_t>(entry - image_.entries.begin());
}

void TileArray::boot() {
  const std::size_t count = image_.entries.size();
  memory_ = map_host_pages(count * page_bytes(image_.machine));
  tiles_.resize(count);
  for (const TileEntry& entry : image_.entries) {
    skew_.push_back(release_skew(image_.machine, entry.tile));
  }
  list_segments();
  auto calls_of = marks_of<CallStack::Mark>(image_.calls, *this);
  auto loops_of = marks_of<LoopTrips::Mark>(image_.loops, *this);
  arena_.each(count, kTilesARange, [&](std::size_t i) {
    tiles_[i] = Tile(image_.machine, id(i), code_, memory_.get() + i * page_bytes(image_.machine));
    std::ranges::sort(calls_of[i], {}, &CallStack::Mark::pc);
    tiles_[i].mark_calls(std::move(calls_of[i]));
    std::ranges::sort(loops_of[i], {}, &LoopTrips::Mark::pc);
    tiles_[i].mark_loops(std::move(loops_of[i]), options_.max_trips);
    tiles_[i].memory().boot(segments(i));
    tiles_[i].check_races(options_.check_races, race_shadows_);
    if (options_.take_turns) tiles_[i].take_turns();
    if (options_.interrupted) tiles_[i].poll(options_.interrupted);
    tiles_[i].boot(image_.entries[i].pc);
  });
  for (std::size_t i = 0; options_.make_engine && i < count; ++i) {
    engines_.push_back(options_.make_engine(id(i), tiles_[i].engine()));
    if (engines_[i] == nullptr) throw UserError(ExitCode::kUsage, "make_engine gives no engine");
    tiles_[i].set_engine(*engines_[i]);
  }
  stops_.resize(count);
  work_.resize(count);
  told_ports_.resize(count);
  resumed_.resize(count);
}

/// In the order of the image.
void TileArray::list_segments() {
  const auto each_of_its_tiles = [&](const Segment& segment, const auto& note) {
    auto entry = image_.entries.begin();
    for (const TileId tile : segment.tiles) {
      entry = std::ranges::lower_bound(entry, image_.entries.end(), tile, {}, &TileEntry::tile);
      if (entry == image_.entries.end()) return;
      if (entry->tile == tile) note(static_cast<std::size_t>(entry - image_.entries.begin()));
    }
  };
  segments_end_.resize(image_.entries.size());
  for (const Segment& segment : image_.segments) {
    each_of_its_tiles(segment, [&](std::size_t i) { ++segments_end_[i]; });
  }
  segments_.resize(std::reduce(segments_end_.begin(), segments_end_.end()));
  // Where those of each entry begin: each that is put there moves that towards their end.
  std::exclusive_scan(segments_end_.begin(), segments_end_.end(), segments_end_.begin(),
                      std::size_t{0});
  for (const Segment& segment : image_.segments) {
    each_of_its_tiles(segment, [&](std::size_t i) { segments_[segments_end_[i]++] = &segment; });
  }
}

FabricPort TileArray::port(std::size_t entry, const PortLog& log) {
  TileMemory& memory = tiles_[entry].memory();
  std::byte* const bytes = memory.data_from(log.lowest_address());
  return {id(entry), &log, {bytes, memory.size()}, tiles_[entry].sent_beside_workers()};
}

void TileArray::handle(const Message& message, MachineOutbox& out) {
  if (const auto* opening = std::get_if<Opening>(&message)) {
    run(out.now(), opening->begins_visit, out);
  } else {
    resume(out);
  }
}

/// In the thread that ran the tile, and has its contexts at hand.
void TileArray::note_work(std::size_t entry) {
  const Tile& tile = tiles_[entry];
  TileWork& work = work_[entry];
  told_ports_[entry] = tile.port_log().empty() ? 0 : 1;
  work.calls_step = tile.calls_step();
  // Of a tile that only waits, its workers need not be looked at.
  if (tile.launches().count == 0) return work.launches.clear();
  work.instructions = tile.worker_instructions();
  work.busy_cycles = tile.worker_busy_cycles();
  work.launches = tile.launches();
  const std::span<const WorkerRun> runs = tile.runs();
  work.runs.assign(runs.begin(), runs.end());
}

/// Asks once for a tile, which ran from that cycle, when that took long. A tile itself asks only in
/// loops that are long, but many that are shorter are long together.
bool TileArray::is_asked_to_stop(std::size_t entry, std::uint64_t from) const {
  constexpr std::uint64_t kCyclesBetweenPolls = 1U << 14;
  const TileStop& stop = stops_[entry];
  if (stop.kind == TileStop::Kind::kFault || stop.cycle < from + kCyclesBetweenPolls) return false;
  return options_.interrupted && options_.interrupted();
}

/// Runs tiles side by side: `run_tile(i, from)` those for which `begin(i)` says from which cycle.
/// Adds what they stopped for.
template <class Begin, class Run>
void TileArray::run_tiles(const Begin& begin, const Run& run_tile) {
  std::mutex adding;
  std::atomic<bool> stopping = false;
  const auto run_one = [&](std::size_t i, std::uint64_t from) {
    tiles_[i].clear_port_events();
    // In its place: a host waits for parts that were just written before it copies them as one.
    ::new (&stops_[i]) TileStop(run_tile(i, from));
    note_work(i);
    if (is_asked_to_stop(i, from)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      stopping.store(true, std::memory_order_relaxed);
    }
  };
  // The tiles of a range are its thread's.
  arena_.each_of_ranges(tiles_.size(), kTilesARange, [&](std::size_t first, std::size_t end) {
    StopSummary stopped;
    for (std::size_t i = first; i != end; ++i) {
      if (i + 2 < end) tiles_[i + 2].prefetch();
      if (i + 1 < end) __builtin_prefetch(tiles_[i + 1].next_code());
      resumed_[i] = 0;
      const std::optional<std::uint64_t> from = begin(i);
      if (!from) continue;
      if (stopping.load(std::memory_order_relaxed)) {
        stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      } else {
        run_one(i, *from);
      }
      stopped.add(id(i), stops_[i], told_ports(i));
    }
    const std::scoped_lock lock(adding);
    stopped_.add(stopped);
  });
}

/// Runs every tile until it waits, faults, or needs the words of this superstep's exchange.
void TileArray::run(Cycles opening, bool is_visit, MachineOutbox& out) {
  stopped_ = {};
  run_tiles([&](std::size_t i) { return std::optional(release(i, opening).value()); },
            [&](std::size_t i, std::uint64_t from) { return tiles_[i].run(from); });
  has_run_ = true;
  if (is_interrupted()) return;
  for (std::size_t i = 0; stopped_.has_faults && i < tiles_.size(); ++i) {
    if (stops_[i].kind == TileStop::Kind::kFault) chip_.send_trap(out, trap_of(i));
  }
  if (is_visit) {
    for (std::size_t i = 0; stopped_.waits_for_words && i < tiles_.size(); ++i) {
      if (!waits_for_words(stops_[i])) continue;
      chip_.send_trap(out,
                      {.cycle = arrival(i),
                       .tile = id(i),
                       .context = "supervisor",
                       .pc = stops_[i].pc,
                       .cause = "memory is touched or workers are launched inside a host phase"});
    }
  } else if (stopped_.has_port_events) {
    out.send(
        {.time = out.now(), .to = &chip_.fabric(), .is_definite = true, .message = PortsTold{}});
    return;
  }
  send_arrivals(out);
}

/// Lets the tiles that needed the words go on to their sync. Those that have not all of them stay:
/// there is a trap.
void TileArray::resume(MachineOutbox& out) {
  if (stopped_.waits_for_words) {
    run_tiles(
        [&](std::size_t i) -> std::optional<std::uint64_t> {
          if (!waits_for_words(stops_[i]) || chip_.fabric().lacks_words(i)) return std::nullopt;
          return stops_[i].cycle;
        },
        [&](std::size_t i, std::uint64_t) {
          resumed_[i] = 1;
          return tiles_[i].resume();
        });
    if (is_interrupted()) return;
    send_traps_of_resumed(out);
  }
  send_arrivals(out);
}

void TileArray::send_traps_of_resumed(MachineOutbox& out) {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (!resumed_[i]) continue;
    if (stops_[i].kind == TileStop::Kind::kFault) chip_.send_trap(out, trap_of(i));
    if (!told_ports(i)) continue;
    const PortEvent event = tiles_[i].port_events().front();
    chip_.send_trap(out, {.cycle = Cycles(event.cycle),
                          .tile = id(i),
                          .context = "supervisor",
                          .pc = event.pc,
                          .cause = "an exchange instruction after this superstep's words were "
                                   "used; a sync must come between them"});
  }
}

Trap TileArray::trap_of(std::size_t entry) const {
  const std::optional<TileFault> fault = tiles_[entry].fault();
  SUPERSTEP_CHECK(fault.has_value(), "a tile stopped at a fault without one");
  Trap trap{.cycle = Cycles(fault->cycle),
            .tile = id(entry),
            .context = fault->context,
            .pc = fault->pc,
            .cause = fault->cause,
            .kind = fault->kind};
  const LoopTrips& loops = tiles_[entry].loops();
  if (loops.is_past_limit()) {
    const std::vector<StepInfo>& steps = image_.info.steps;
    trap.cause = fmt::format("{} is not done after {} trips without a superstep",
                             loops.last() < steps.size() ? steps[loops.last()].name : "a loop",
                             options_.max_trips.value());
  }
  return trap;
}

/// Those that wait at a sync to the barrier of its zone.
void TileArray::send_arrivals(MachineOutbox& out) {
  std::ranges::sort(stopped_.arrivals, {},
                    [](const BarrierArrival& arrival) { return arrival.first.tile; });
  for (const BarrierArrival& arrival : stopped_.arrivals) {
    // A tile in a zone that is not there has arrived nowhere.
    Barrier* const barrier = chip_.barrier(arrival.last.zone);
    if (barrier == nullptr) {
      chip_.send_trap(out, no_such_zone(arrival.first));
      continue;
    }
    out.send({.time = std::max(out.now(), arrival.last.cycle),
              .to = barrier,
              .source = arrival.last.zone,
              .message = arrival});
  }
}

}  // namespace superstep
