#include "sim/tile/worker_launcher.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "isa/registers.h"

namespace superstep {

namespace {

/// Those that take turns are looked at every so many steps of all of them.
constexpr std::uint64_t kStepsOfTurn = 1U << 12;

/// Of workers that take turns though nobody looks at their steps.
NullObserver null_observer;

/// Has the host fetch the context of a worker that is about to begin.
void prefetch(const WorkerContext& worker) {
  constexpr std::size_t kLine = 64;
  const auto* const begin = reinterpret_cast<const std::byte*>(&worker);
  for (const auto* at = begin; at < begin + sizeof(worker); at += kLine) __builtin_prefetch(at, 1);
}

}  // namespace

WorkerLauncher::WorkerLauncher(const MachineConfig& machine, TileMemory& memory, CodeStore& code)
    : machine_(machine), memory_(memory), codes_(memory, code), interpreter_(codes_, meter_) {}

std::vector<WorkerContext>& WorkerLauncher::workers() {
  if (workers_.empty()) {
    workers_.reserve(machine_.tile.workers);
    for (std::uint32_t id = 0; id < machine_.tile.workers; ++id) {
      workers_.emplace_back(machine_, memory_, weights(), id);
    }
  }
  return workers_;
}

InstructionCounts WorkerLauncher::instructions() const {
  InstructionCounts all = meter_.instructions();
  for (const WorkerContext& worker : workers_) all += worker.repeated_instructions;
  return all;
}

const WorkerStep* WorkerLauncher::run_step(WorkerContext& worker, const WorkerStep* step) {
  std::optional<IssuedInstruction> issued;
  if (worker.observer != &null_observer) issued = worker.issued(*step);
  worker.pass(*step);
  const std::uint64_t before = worker.extra_slots;
  const WorkerStep* next = step->run(worker, step);
  const std::uint64_t stalled = (worker.extra_slots - before) * worker.period;
  worker.next_cycle += stalled;
  if (issued) {
    issued->cycles += stalled;
    worker.observer->issued(*issued);
  }
  if (next == nullptr && worker.repeat.turns > 0) worker.stop_in_body();
  if (next == nullptr && worker.stop == WorkerContext::Stop::kFault) return nullptr;
  meter_.count(step->own_cost());
  if (next == nullptr && worker.stop == WorkerContext::Stop::kJump) {
    next = codes_.step_at(worker, worker.pc);
  }
  if (worker.repeat.turns == 0 || next != worker.repeat.end) return next;
  return --worker.repeat.turns == 0 ? next : worker.repeat.first;
}

bool WorkerLauncher::take_turn(SupervisorContext& supervisor, Running& running) {
  WorkerContext& worker = *running.worker;
  if (running.step == nullptr) {
    if (worker.observer == nullptr) worker.observer = &null_observer;
    enter(running);
  }
  const std::uint64_t issued = worker.next_cycle;
  if (worker.moded) [[unlikely]]
    enter_float_mode(worker);
  running.step = run_step(worker, running.step);
  if (worker.moded) leave_float_mode();
  if (++steps_ % kStepsOfTurn == 0 && running.step != nullptr) {
    const std::uint64_t slots = (issued - running.first_cycle) / machine_.issue_period();
    if (meter_.gives_up(worker, running.step, slots)) running.step = nullptr;
  }
  if (running.step != nullptr) {
    if (runs_ != nullptr) [[unlikely]]
      note_pause(worker);
    return true;
  }
  // A fault is dated to the slot of its instruction.
  const bool faulted = worker.stop == WorkerContext::Stop::kFault;
  end(supervisor, running, faulted ? issued : worker.next_cycle);
  return false;
}

std::size_t WorkerLauncher::next_in_turn() const {
  // Mostly workers issue in the order of their launches, each in the cycle behind the other.
  const std::size_t behind = last_turn_ + 1 < running_.size() ? last_turn_ + 1 : 0;
  if (running_[behind].worker->next_cycle == last_issued_ + 1) return behind;
  const auto now = std::ranges::min_element(
      running_, {}, [](const Running& running) { return running.worker->next_cycle; });
  return static_cast<std::size_t>(now - running_.begin());
}

void WorkerLauncher::take_turns_until(SupervisorContext& supervisor, std::uint64_t cycle) {
  enter_host();
  while (!running_.empty()) {
    const std::size_t now = next_in_turn();
    const std::uint64_t issued = running_[now].worker->next_cycle;
    if (issued >= std::min(cycle, stop_cycle_)) return;
    last_turn_ = now;
    last_issued_ = issued;
    if (!take_turn(supervisor, running_[now])) {
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(now));
    }
  }
}

void WorkerLauncher::run_ahead(SupervisorContext& supervisor, Running& running) {
  WorkerContext& worker = *running.worker;
  // A body that it has begun is counted by turns.
  while (worker.repeat.turns > 0) {
    if (!take_turn(supervisor, running)) return;
  }
  worker.observer = observer_;
  if (running.step == nullptr) {
    enter(running);
  } else {
    running.step = codes_.step_at(worker, running.step->pc);
  }
  if (worker.observer == nullptr && codes_.current()->reads_cycle_counter()) [[unlikely]] {
    worker.observer = &null_observer;
    running.step = codes_.step_at(worker, running.step->pc);
  }
  if (worker.observer == nullptr) [[likely]] {
    if (worker.moded) [[unlikely]]
      enter_float_mode(worker);
    const std::uint64_t slots = engine_->run(worker, running.step);
    const std::uint64_t left = worker.next_cycle + slots * machine_.issue_period();
    if (worker.stop != WorkerContext::Stop::kJump) [[likely]] {
      return end(supervisor, running, left);
    }
    // From where it jumped to the cycle of each step may matter.
    if (worker.moded) leave_float_mode();
    worker.next_cycle = left;
    worker.observer = &null_observer;
    running.step = codes_.step_at(worker, worker.pc);
  }
  while (take_turn(supervisor, running)) {
  }
}

void WorkerLauncher::check_path(const SupervisorPath& path, std::uint64_t cycle) {
  if (!look_ahead().has_changed(path)) [[likely]]
    return;
  keep_earlier({cycle, "supervisor", path.pc,
                "supervisor code that changed while workers were running", TrapKind::kUnmodelled});
}

std::uint64_t WorkerLauncher::free_slot_in_turn(SupervisorContext& supervisor,
                                                std::uint64_t cycle) {
  enter_host();
  if (const SupervisorPath& path = look_ahead().from(supervisor.pc);
      !in_turn_ && !path.meets_workers) {
    for (Running& running : running_) run_ahead(supervisor, running);
    running_.clear();
    check_path(path, cycle);
  }
  while (true) {
    take_turns_until(supervisor, cycle);
    if (running_.empty()) return supervisor.slots.free_from(cycle);
    if (cycle >= stop_cycle_) return cycle;
    const bool is_turn = running_[next_in_turn()].worker->next_cycle == cycle;
    if (!is_turn && !supervisor.slots.owned(cycle)) return cycle;
    ++cycle;
  }
}

void WorkerLauncher::stop(SupervisorContext& supervisor) const {
  supervisor.stop = interrupted_ ? SupervisorContext::Stop::kInterrupted
                    : fault_     ? SupervisorContext::Stop::kFault
                                 : SupervisorContext::Stop::kPaused;
  supervisor.cause = nullptr;
}

std::uint64_t WorkerLauncher::begin(SupervisorContext& supervisor, std::uint64_t issue,
                                    WorkerContext& worker, std::uint32_t vertex_base) {
  worker.begin();
  worker.registers[isa::kWorkerBase] = supervisor.csrs[isa::kFirstWorkerBase + worker.id];
  worker.registers[isa::kVertexBase] = vertex_base;
  worker.observer = observer_;
  if (supervisor.sets_float_state) [[unlikely]] {
    worker.fp.format = supervisor.csrs[isa::kFpInfmt];
    worker.fp.scale = supervisor.csrs[isa::kFpIscl];
    set_float_control(worker, supervisor.csrs[isa::kFpIctl]);
  }
  worker.next_cycle = supervisor.slots.first_of(worker.id, issue, machine_.costs.runall);
  return worker.next_cycle;
}

void WorkerLauncher::end(SupervisorContext& supervisor, const Running& running,
                         std::uint64_t left) {
  const WorkerContext& worker = *running.worker;
  if (worker.moded) [[unlikely]]
    leave_float_mode();
  if (worker.stop == WorkerContext::Stop::kFault) [[unlikely]] {
    keep_earlier(
        {left, "worker " + std::to_string(worker.id), worker.pc, worker.cause, worker.kind});
  }
  if (worker.stop == WorkerContext::Stop::kInterrupted) [[unlikely]] {
    interrupted_ = true;
    stop_cycle_ = 0;
  }
  if (worker.races != nullptr) races_->end(worker.race_run, left);
  supervisor.slots.leave(worker.id, left);
  launches_.last_exit_cycle = std::max(launches_.last_exit_cycle, left);
  busy_cycles_ += left - running.first_cycle;
  busy_cycles_of_.at(worker.id) += left - running.first_cycle;
  if (runs_ != nullptr) [[unlikely]]
    note_end(worker, left);
}

// Apart, so that where nobody looks there is no more than that question.

[[gnu::noinline]] void WorkerLauncher::note_begin(const SupervisorContext& supervisor,
                                                  const Running& running) {
  runs_->begin({running.worker->id, running.entry, supervisor.pc, supervisor.calls.step(),
                running.issue, running.first_cycle},
               instructions());
}

[[gnu::noinline]] void WorkerLauncher::note_pause(const WorkerContext& worker) {
  runs_->pause(worker.id, instructions());
}

[[gnu::noinline]] void WorkerLauncher::note_end(const WorkerContext& worker, std::uint64_t left) {
  runs_->end(worker.id, left, instructions());
}

SupervisorPath& WorkerLauncher::note_launch(const SupervisorContext& supervisor,
                                            std::uint64_t issue) {
  enter_host();
  if (launches_.count == 0) {
    launches_.first_pc = supervisor.pc;
    launches_.first_calls_step = supervisor.calls.step();
    launches_.first_cycle = issue;
  }
  ++launches_.count;
  // What the supervisor does behind other workers is for this launch: it loads weights.
  const std::uint64_t begin =
      launches_.places.empty() ? issue : std::min(issue, supervisor.slots.all_left());
  launches_.add(supervisor.pc, supervisor.calls.step(), begin, supervisor.loops.all());
  if (supervisor.slots.all_left() <= issue) {
    for (const auto& [path, code] : first_times_) path->checked = code;
    checked_.insert(first_times_.begin(), first_times_.end());
    first_times_.clear();
  }
  return look_ahead().from(supervisor.pc + 4);
}

void WorkerLauncher::enter(Running& running) {
  SupervisorPath& path = *running.path;
  const bool is_ordinary = WorkerCodes::kind(*running.worker) == CodeKind::kOrdinary;
  if (is_ordinary && path.launched != nullptr && path.entry == running.entry &&
      codes_.holds(path.code_version)) {
    codes_.found_again(path.launched, running.entry, path.first_step);
    running.step = path.first_step;
  } else {
    running.step = codes_.step_at(*running.worker, running.entry);
    const bool is_still = is_ordinary && codes_.last_kind() == CodeKind::kOrdinary;
    path.launched = is_still ? codes_.current() : nullptr;
    path.first_step = running.step;
    path.entry = running.entry;
  }
  if (races_ != nullptr) check(running);
}

void WorkerLauncher::check(Running& running) {
  WorkerContext& worker = *running.worker;
  const std::pair present(running.path, codes_.current());
  const bool checks = which_races_ == RaceChecks::kAlways ||
                      (running.path->checked != codes_.current() && !checked_.contains(present));
  worker.races = checks ? races_.get() : nullptr;
  if (!checks) return worker.port.allow_all();
  worker.race_run = races_->begin(worker.id, running.issue);
  worker.port.refuse_all();
  running.step = codes_.step_at(worker, running.entry);
  if (first_times_.empty() || first_times_.back() != present) first_times_.push_back(present);
}

void WorkerLauncher::launch(SupervisorContext& supervisor, std::uint64_t issue,
                            WorkerContext& worker, std::uint32_t entry, std::uint32_t vertex_base,
                            SupervisorPath& path) {
  const std::uint64_t first_cycle = begin(supervisor, issue, worker, vertex_base);
  Running running{&worker, &path, issue, first_cycle, entry};
  supervisor.slots.start(worker.id, first_cycle);
  if (runs_ != nullptr) [[unlikely]]
    note_begin(supervisor, running);
  if (in_turn_ || path.meets_workers || !running_.empty()) [[unlikely]] {
    if (worker.moded) leave_float_mode();
    if (running_.empty()) last_issued_ = issue;
    running_.push_back(running);
  } else {
    run_ahead(supervisor, running);
    check_path(path, issue);
  }
}

void WorkerLauncher::run_batch(SupervisorContext& supervisor, std::uint64_t issue,
                               std::uint32_t entry, std::uint32_t state, std::uint32_t stride) {
  SupervisorPath& path = note_launch(supervisor, issue);
  std::vector<WorkerContext>& all = workers();
  // Since the superstep before, other tiles have displaced them.
  const bool are_far = launches_.count == 1;
  for (WorkerContext& worker : all) {
    if (are_far && &worker != &all.back()) prefetch(*(&worker + 1));
    launch(supervisor, issue, worker, entry, state + worker.id * stride, path);
    if (interrupted_) [[unlikely]]
      return;
  }
}

bool WorkerLauncher::run_single(SupervisorContext& supervisor, std::uint64_t issue,
                                std::uint32_t entry, std::uint32_t state_offset) {
  for (WorkerContext& worker : workers()) {
    if (supervisor.slots.busy(worker.id, issue)) continue;
    launch(supervisor, issue, worker, entry, machine_.tile.memory_base + state_offset,
           note_launch(supervisor, issue));
    return true;
  }
  return false;
}

void WorkerLauncher::check_races(RaceChecks which, RaceShadows& shadows) {
  which_races_ = which;
  races_ = which == RaceChecks::kNever ? nullptr : std::make_unique<RaceFinder>(shadows);
}

WorkerView WorkerLauncher::worker(std::uint32_t id) const {
  if (workers_.empty()) return {};
  const WorkerContext& context = workers_.at(id);
  const auto running = std::ranges::find(running_, &context, &Running::worker);
  WorkerView view{.is_running = running != running_.end()};
  if (view.is_running) {
    view.pc = running->step == nullptr ? running->entry : running->step->pc;
  }
  const auto registers = context.registers.begin();
  std::copy_n(registers, view.m.size(), view.m.begin());
  std::copy_n(registers + kAuxRegisters, view.a.size(), view.a.begin());
  view.m[15] = view.a[15] = 0;
  return view;
}

void WorkerLauncher::replay_until(std::uint64_t cycle) {
  stop_cycle_ = cycle;
  in_turn_ = true;
  replay();
}

void WorkerLauncher::replay() {
  engine_ = &interpreter_;
  if (races_ != nullptr) races_beside_replay_ = std::move(races_);
  for (WorkerContext& worker : workers_) {
    worker.races = nullptr;
    worker.port.allow_all();
  }
}

void WorkerLauncher::keep_earlier(TileFault fault) {
  if (fault_ && fault_->cycle <= fault.cycle) return;
  fault_ = std::move(fault);
  stop_cycle_ = std::min(stop_cycle_, fault_->cycle);
}

}  // namespace superstep
