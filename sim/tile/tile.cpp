#include "sim/tile/tile.h"

#include <algorithm>

#include "sim/tile/supervisor.h"

namespace superstep {

class Tile::Impl {
  struct LeaveHost {
    WorkerLauncher& launcher;
    ~LeaveHost() { launcher.leave_host(); }
  };

 public:
  Impl(const MachineConfig& machine, TileId id, CodeStore& code, std::byte* pages)
      : machine_(machine), id_(id), memory_(machine, pages), supervisor_(machine, memory_, code) {}

  TileStop go_on() {
    SupervisorContext& context = supervisor_.context();
    const LeaveHost leave{supervisor_.launcher()};
    supervisor_.run();
    TileStop stop{.zone = context.zone, .cycle = context.now, .pc = context.pc};
    switch (context.stop) {
      case SupervisorContext::Stop::kNone:
      case SupervisorContext::Stop::kFault:
        stop.kind = TileStop::Kind::kFault;
        fault_ = context.cause == nullptr ? supervisor_.launcher().fault()
                                          : TileFault{context.now, "supervisor", context.pc,
                                                      context.cause, context.kind};
        stop.cycle = fault_->cycle;
        stop.pc = fault_->pc;
        break;
      case SupervisorContext::Stop::kInterrupted:
        stop.kind = TileStop::Kind::kInterrupted;
        break;
      case SupervisorContext::Stop::kExchangeDone:
        stop.kind = TileStop::Kind::kExchangeDone;
        break;
      case SupervisorContext::Stop::kPaused:
        stop.kind = TileStop::Kind::kPaused;
        break;
      case SupervisorContext::Stop::kSync:
        supervisor_.launcher().pause_checks();
        stop.kind = TileStop::Kind::kSync;
        stop.cycle = context.arrival;
        stop.pc = context.pc - 4;
        break;
    }
    return stop;
  }

  template <class Archive>
  void state(Archive& archive) {
    auto& [machine, id, memory, supervisor, fault] = *this;
    archive(memory, supervisor);
    if constexpr (Archive::kReads) fault.reset();
  }

  const MachineConfig& machine_;
  TileId id_;
  TileMemory memory_;
  Supervisor supervisor_;
  std::optional<TileFault> fault_;
};

void TileLaunches::add(std::uint32_t pc, std::uint32_t calls_step, std::uint64_t begin,
                       std::uint64_t trips) {
  const auto is_here = [&](const TileLaunch& place) {
    return place.pc == pc && place.calls_step == calls_step;
  };
  if (!places.empty() && is_here(places[last_place])) {
    // Blocks of weights, or workers of one launch, are one run.
    if (trips != last_trips) ++places[last_place].runs;
    last_trips = trips;
    return;
  }
  // In loops what comes next is known, and mostly follows.
  std::size_t next = places.empty() ? 0 : last_place + 1;
  const bool may_be_known = trips > 0 || (next > 0 && pc <= places[last_place].pc);
  if (next < places.size() ? !is_here(places[next]) : may_be_known) {
    next = static_cast<std::size_t>(std::ranges::find_if(places, is_here) - places.begin());
  }
  if (!places.empty()) places[last_place].cycles += begin - last_cycle;
  if (next == places.size()) places.push_back({.pc = pc, .calls_step = calls_step, .cycle = begin});
  ++places[next].runs;
  last_place = next;
  last_cycle = begin;
  last_trips = trips;
}

Tile::Tile(const MachineConfig& machine, TileId id, CodeStore& code, std::byte* pages)
    : impl_(std::make_unique<Impl>(machine, id, code, pages)) {}
Tile::Tile() = default;
Tile::~Tile() = default;
Tile::Tile(Tile&&) noexcept = default;
Tile& Tile::operator=(Tile&&) noexcept = default;

TileId Tile::id() const { return impl_->id_; }
TileMemory& Tile::memory() { return impl_->memory_; }

void Tile::check_races(RaceChecks which, RaceShadows& shadows) {
  impl_->supervisor_.launcher().check_races(which, shadows);
}

void Tile::take_turns() { impl_->supervisor_.launcher().take_turns(); }

Engine& Tile::engine() { return impl_->supervisor_.launcher().engine(); }
void Tile::set_engine(Engine& engine) { impl_->supervisor_.launcher().set_engine(engine); }

void Tile::observe(InstructionObserver* observer) { impl_->supervisor_.observe(observer); }

void Tile::note_runs(SharedRooms rooms) {
  impl_->supervisor_.launcher().note_runs(std::move(rooms));
}

void Tile::poll(const std::function<bool()>& interrupted) { impl_->supervisor_.poll(interrupted); }

void Tile::boot(std::uint32_t pc) {
  impl_->supervisor_.boot(pc);
  impl_->supervisor_.context().tile = index(impl_->id_);
}

TileStop Tile::run(std::uint64_t release_cycle) {
  SupervisorContext& context = impl_->supervisor_.context();
  context.now = std::max(release_cycle, context.earliest);
  context.loops.sync();
  impl_->supervisor_.launcher().clear_launches();
  return impl_->go_on();
}

void Tile::prefetch() const {
  impl_->supervisor_.prefetch();
  // What `next_code` reads.
  __builtin_prefetch(&impl_->memory_);
  __builtin_prefetch(&impl_->memory_ + 1);
}
const std::byte* Tile::next_code() const { return impl_->supervisor_.next_code(); }

TileStop Tile::resume() { return impl_->go_on(); }

const PortLog& Tile::port_log() const { return impl_->supervisor_.context().ports; }
std::vector<PortEvent> Tile::port_events() const {
  std::vector<PortEvent> events;
  port_log().append_events(events);
  return events;
}
std::span<const SentWord> Tile::sent_beside_workers() const {
  return impl_->supervisor_.context().sent_beside_workers;
}
void Tile::clear_port_events() {
  SupervisorContext& context = impl_->supervisor_.context();
  context.ports.clear();
  context.sent_beside_workers.clear();
}

InstructionCounts Tile::worker_instructions() const {
  return impl_->supervisor_.launcher().instructions();
}
std::uint64_t Tile::worker_busy_cycles() const {
  return impl_->supervisor_.launcher().busy_cycles();
}
std::uint64_t Tile::worker_busy_cycles(std::uint32_t worker) const {
  return impl_->supervisor_.launcher().busy_cycles(worker);
}
void Tile::mark_calls(std::vector<CallStack::Mark> calls) {
  impl_->supervisor_.context().calls.mark(std::move(calls));
}
void Tile::mark_loops(std::vector<LoopTrips::Mark> loops, std::optional<std::uint64_t> limit) {
  LoopTrips& trips = impl_->supervisor_.context().loops;
  trips.mark(std::move(loops));
  trips.limit(limit);
}
const LoopTrips& Tile::loops() const { return impl_->supervisor_.context().loops; }
std::uint32_t Tile::calls_step() const { return impl_->supervisor_.context().calls.step(); }
const TileLaunches& Tile::launches() const { return impl_->supervisor_.launcher().launches(); }
std::span<const WorkerRun> Tile::runs() const { return impl_->supervisor_.launcher().runs(); }
std::optional<TileFault> Tile::fault() const { return impl_->fault_; }

std::uint32_t Tile::supervisor_pc() const { return impl_->supervisor_.context().pc; }

WorkerView Tile::worker(std::uint32_t id) const { return impl_->supervisor_.launcher().worker(id); }

std::uint32_t Tile::workers() const { return impl_->machine_.tile.workers; }

void Tile::state(StateWriter& archive) { impl_->state(archive); }
void Tile::state(StateReader& archive) { impl_->state(archive); }

void Tile::replay(InstructionObserver* observer) {
  impl_->supervisor_.observe(observer);
  impl_->supervisor_.launcher().replay();
}

void Tile::replay_until(std::uint64_t cycle, InstructionObserver& observer) {
  impl_->supervisor_.observe(&observer);
  impl_->supervisor_.launcher().replay_until(cycle);
}

std::uint32_t Tile::supervisor_register(std::uint32_t number) const {
  return impl_->supervisor_.context().registers[number % 16];
}

}  // namespace superstep
