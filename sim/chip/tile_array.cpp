#include "sim/chip/tile_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
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
    : MachineProcess(place_of(chip.id(), Rank::kTiles)),
      chip_(chip),
      image_(image),
      options_(options),
      arena_(arena),
      code_(image.machine),
      race_shadows_(image.machine) {
  if (!image.entries.empty()) boot();
}

TileArray::~TileArray() {
  arena_.each(tiles_.size(), kTilesARange,
              [&](std::size_t i) { const Tile gone = std::move(tiles_[i]); });
}

std::optional<std::size_t> TileArray::entry_of(TileId tile) const {
  const auto entry = std::ranges::lower_bound(image_.entries, tile, {}, &TileEntry::tile);
  if (entry == image_.entries.end() || entry->tile != tile) return std::nullopt;
  return static_cast<std::size_t>(entry - image_.entries.begin());
}

void TileArray::boot() {
  const std::size_t count = image_.entries.size();
  memory_ = map_host_pages(count * page_bytes(image_.machine));
  tiles_.reserve(count);
  for (const TileEntry& entry : image_.entries) {
    tiles_.emplace_back(image_.machine, entry.tile, code_,
                        memory_.get() + tiles_.size() * page_bytes(image_.machine));
    skew_.push_back(release_skew(image_.machine, entry.tile));
  }
  segments_.resize(count);
  for (const Segment& segment : image_.segments) {
    for (const TileId tile : segment.tiles) {
      if (const auto entry = entry_of(tile)) segments_[*entry].push_back(&segment);
    }
  }
  auto calls_of = marks_of<CallStack::Mark>(image_.calls, *this);
  auto loops_of = marks_of<LoopTrips::Mark>(image_.loops, *this);
  arena_.each(count, kTilesARange, [&](std::size_t i) {
    std::ranges::sort(calls_of[i], {}, &CallStack::Mark::pc);
    tiles_[i].mark_calls(std::move(calls_of[i]));
    std::ranges::sort(loops_of[i], {}, &LoopTrips::Mark::pc);
    tiles_[i].mark_loops(std::move(loops_of[i]), options_.max_trips);
    write_boot_memory(i, tiles_[i].memory());
    tiles_[i].check_races(options_.check_races, race_shadows_);
    if (options_.take_turns) tiles_[i].take_turns();
    if (options_.interrupted) tiles_[i].poll(options_.interrupted);
    tiles_[i].boot(image_.entries[i].pc);
  });
  stops_.resize(count);
  work_.resize(count);
  resumed_.resize(count);
}

FabricPort TileArray::port(std::size_t entry, const PortLog& log) {
  TileMemory& memory = tiles_[entry].memory();
  return {id(entry), &log, {memory.data(), memory.size()}, tiles_[entry].sent_beside_workers()};
}

void TileArray::write_boot_memory(std::size_t entry, TileMemory& memory) const {
  for (const Segment* segment : segments_[entry]) {
    const bool inside = memory.write(segment->address, std::as_bytes(std::span(segment->bytes)));
    SUPERSTEP_CHECK(inside,
                    fmt::format("a segment at {:#x} lies outside tile memory", segment->address));
  }
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
  work.ports = tile.port_log().empty() ? nullptr : &tile.port_log();
  work.calls_step = tile.calls_step();
  // Of a tile that only waits, its workers need not be looked at.
  if (tile.launches().count == 0) return work.launches.clear();
  work.instructions = tile.worker_instructions();
  work.busy_cycles = tile.worker_busy_cycles();
  work.launches = tile.launches();
}

/// Of a tile that is about to run: its contexts, and the code at which it stopped.
void TileArray::prefetch(std::size_t entry) const {
  tiles_[entry].prefetch();
  const std::uint32_t pc = has_run_ ? stops_[entry].pc : image_.entries[entry].pc;
  const MachineConfig& machine = image_.machine;
  __builtin_prefetch(memory_.get() + entry * page_bytes(machine) + (pc - machine.tile.memory_base));
}

/// Asks once for a tile, which ran from that cycle, when that took long. A tile itself asks only in
/// loops that are long, but many that are shorter are long together.
bool TileArray::is_asked_to_stop(std::size_t entry, std::uint64_t from) const {
  constexpr std::uint64_t kCyclesBetweenPolls = 1U << 14;
  const TileStop& stop = stops_[entry];
  if (stop.kind == TileStop::Kind::kFault || stop.cycle < from + kCyclesBetweenPolls) return false;
  return options_.interrupted && options_.interrupted();
}

bool TileArray::is_stopped_anywhere() const {
  return std::ranges::any_of(
      stops_, [](const TileStop& stop) { return stop.kind == TileStop::Kind::kInterrupted; });
}

/// Runs every tile until it waits, faults, or needs the words of this superstep's exchange.
void TileArray::run(Cycles opening, bool is_visit, MachineOutbox& out) {
  std::atomic<bool> stopping = false;
  std::atomic<bool> has_events = false;
  const auto run_tile = [&](std::size_t i) {
    resumed_[i] = 0;
    if (stopping.load(std::memory_order_relaxed)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      return;
    }
    const std::uint64_t from = release(i, opening).value();
    tiles_[i].clear_port_events();
    stops_[i] = tiles_[i].run(from);
    note_work(i);
    if (work_[i].ports != nullptr) has_events.store(true, std::memory_order_relaxed);
    if (is_asked_to_stop(i, from)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      stopping.store(true, std::memory_order_relaxed);
    }
  };
  // The tiles of a range are its thread's.
  arena_.each_of_ranges(tiles_.size(), kTilesARange, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) {
      if (i + 1 != end) prefetch(i + 1);
      run_tile(i);
    }
  });
  has_run_ = true;
  interrupted_ = is_stopped_anywhere();
  if (interrupted_) return;
  send_faults(out);
  if (is_visit) {
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      if (!waits_for_words(stops_[i])) continue;
      chip_.send_trap(out,
                      {.cycle = arrival(i),
                       .tile = id(i),
                       .context = "supervisor",
                       .pc = stops_[i].pc,
                       .cause = "memory is touched or workers are launched inside a host phase"});
    }
  } else if (has_events) {
    out.send(
        {.time = out.now(), .to = &chip_.fabric(), .is_definite = true, .message = PortsTold{}});
    return;
  }
  send_arrivals(out);
}

/// Lets the tiles that needed the words go on to their sync. Those that have not all of them stay:
/// there is a trap.
void TileArray::resume(MachineOutbox& out) {
  if (std::ranges::none_of(stops_, waits_for_words)) return send_arrivals(out);
  std::atomic<bool> stopping = false;
  arena_.each(tiles_.size(), kTilesARange, [&](std::size_t i) {
    if (!waits_for_words(stops_[i]) || chip_.fabric().lacks_words(i)) return;
    if (stopping.load(std::memory_order_relaxed)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      return;
    }
    const std::uint64_t from = stops_[i].cycle;
    tiles_[i].clear_port_events();
    resumed_[i] = 1;
    stops_[i] = tiles_[i].resume();
    note_work(i);
    if (is_asked_to_stop(i, from)) {
      stops_[i] = {.kind = TileStop::Kind::kInterrupted};
      stopping.store(true, std::memory_order_relaxed);
    }
  });
  interrupted_ = is_stopped_anywhere();
  if (interrupted_) return;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (!resumed_[i]) continue;
    if (stops_[i].kind == TileStop::Kind::kFault) chip_.send_trap(out, trap_of(i));
    if (work_[i].ports == nullptr) continue;
    const PortEvent event = tiles_[i].port_events().front();
    chip_.send_trap(out, {.cycle = Cycles(event.cycle),
                          .tile = id(i),
                          .context = "supervisor",
                          .pc = event.pc,
                          .cause = "an exchange instruction after this superstep's words were "
                                   "used; a sync must come between them"});
  }
  send_arrivals(out);
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

void TileArray::send_faults(MachineOutbox& out) const {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    if (stops_[i].kind == TileStop::Kind::kFault) chip_.send_trap(out, trap_of(i));
  }
}

/// Those that wait at a sync to the barrier of its zone.
void TileArray::send_arrivals(MachineOutbox& out) const {
  std::vector<BarrierArrival> arrivals;  // by zone; mostly one
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const TileStop& stop = stops_[i];
    if (stop.kind != TileStop::Kind::kSync) continue;
    const WaitingTile tile{id(i), Cycles(stop.cycle), stop.zone, stop.pc};
    auto at =
        std::ranges::find(arrivals, stop.zone, [](const BarrierArrival& a) { return a.last.zone; });
    if (at == arrivals.end()) at = arrivals.insert(at, {.last = tile, .first = tile});
    ++at->tiles;
    if (tile.cycle > at->last.cycle) at->last = tile;
  }
  for (const BarrierArrival& arrival : arrivals) {
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
