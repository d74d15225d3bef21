#include "sim/look_inside.h"

#include <algorithm>
#include <utility>

#include "isa/exchange_ports.h"

namespace superstep {
namespace {

constexpr std::size_t kTilesALook = 8;

/// Notes when a place in the code issues.
class PlaceFinder : public InstructionObserver {
 public:
  explicit PlaceFinder(const CodePlace& place) : place_(place) {}

  void issued(const IssuedInstruction& instruction) override {
    if (instruction.pc != place_.pc) return;
    if (!place_.context || *place_.context == instruction.context) {
      cycles.emplace_back(instruction.cycle);
    }
  }

  std::vector<Cycles> cycles;

 private:
  CodePlace place_;
};

/// What the ports were told that acts before a cycle; from it on nothing is received.
PortLog until_cycle(const PortLog& log, Cycles cycle) {
  std::vector<PortEvent> events;
  log.append_events(events);
  PortLog before;
  for (const PortEvent& event : events) {
    if (event.cycle < cycle.value()) before.add(event);
  }
  before.add(PortEvent{.kind = PortEvent::Kind::kMux, .cycle = cycle.value(), .value = kMuxIdle});
  return before;
}

}  // namespace

LookInside::LookInside(TileArray& tiles, MakeFabric make_fabric, TaskArena& arena)
    : tiles_(tiles),
      make_fabric_(std::move(make_fabric)),
      arena_(arena),
      at_opening_(tiles, arena),
      of_run_(tiles, arena) {}

void LookInside::keep(Cycles opening) {
  at_opening_.keep();
  opening_ = opening;
  releases_.clear();
  for (std::size_t i = 0; i < tiles_.size(); ++i) releases_.push_back(tiles_.release(i, opening));
}

void LookInside::go_to_opening() {
  if (!is_shown_) of_run_.keep();
  is_shown_ = true;
  at_opening_.bring_back();
}

void LookInside::leave() {
  if (!is_shown_) return;
  of_run_.bring_back();
  is_shown_ = false;
}

bool LookInside::show(Cycles cycle) {
  go_to_opening();
  NullObserver null_observer;
  return run(std::vector<InstructionObserver*>(tiles_.size(), &null_observer), cycle);
}

std::optional<std::vector<Cycles>> LookInside::find(const CodePlace& place) {
  const std::optional<std::size_t> entry = tiles_.entry_of(place.tile);
  go_to_opening();
  PlaceFinder finder(place);
  std::vector<InstructionObserver*> observers(tiles_.size());
  if (entry) observers[*entry] = &finder;
  if (!run(observers, std::nullopt)) return std::nullopt;
  std::ranges::sort(finder.cycles);
  return finder.cycles;
}

/// Runs the superstep, to its end or to a cycle; false when it was interrupted.
bool LookInside::run(const std::vector<InstructionObserver*>& observers,
                     std::optional<Cycles> until) {
  std::vector<TileStop> stops(tiles_.size());
  arena_.each(tiles_.size(), kTilesALook, [&](std::size_t i) {
    Tile& tile = tiles_.tile(i);
    if (until) {
      tile.replay_until(until->value(), *observers[i]);
    } else {
      tile.replay(observers[i]);
    }
    tile.clear_port_events();
    stops[i] = tile.run(releases_[i].value());
  });
  move_words(until, stops);
  arena_.each(tiles_.size(), kTilesALook, [&](std::size_t i) {
    Tile& tile = tiles_.tile(i);
    if (stops[i].kind == TileStop::Kind::kExchangeDone) {
      tile.clear_port_events();
      stops[i] = tile.resume();
    }
    tile.observe(nullptr);
  });
  return std::ranges::none_of(
      stops, [](const TileStop& stop) { return stop.kind == TileStop::Kind::kInterrupted; });
}

/// Tiles that stopped for words which do not all come stay where they are.
void LookInside::move_words(std::optional<Cycles> until, std::vector<TileStop>& stops) {
  std::vector<PortLog> logs;
  logs.reserve(tiles_.size());
  std::vector<FabricPort> ports;
  std::vector<std::size_t> entries;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const PortLog& log = tiles_.tile(i).port_log();
    if (log.empty()) continue;
    logs.push_back(until ? until_cycle(log, *until) : log);
    ports.push_back(tiles_.port(i, logs.back()));
    entries.push_back(i);
  }
  if (ports.empty()) return;
  if (fabric_ == nullptr) fabric_ = make_fabric_();
  const FabricResult* moved = nullptr;
  arena_.run([&] { moved = &fabric_->resolve(ports); });
  for (std::size_t p = 0; p < ports.size(); ++p) {
    TileMemory& memory = tiles_.tile(entries[p]).memory();
    if (moved->ports[p].lowest_write < memory.first_free_of_code()) memory.touched();
    TileStop& stop = stops[entries[p]];
    // A log that was cut ends with an event of its own.
    const bool has_words = until ? !moved->fault || stop.cycle <= moved->fault->cycle
                                 : moved->has_all_words(p, stop.cycle);
    if (stop.kind == TileStop::Kind::kExchangeDone && !has_words) {
      stop.kind = TileStop::Kind::kFault;
    }
  }
}

}  // namespace superstep
