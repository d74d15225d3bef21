#include "sim/tile/worker_launcher.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "isa/registers.h"
#include "sim/tile/float_mode.h"

namespace superstep {

namespace {

/// A worker that takes more slots than this is taken for an endless loop: about 20 seconds of
/// machine time.
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 34;
constexpr const char* kEndless = "more than 2^34 slots: an endless loop";

/// A worker is looked at from outside each time it has executed so many instructions, for which a
/// `StepCost` has room.
constexpr std::uint64_t kInstructionsOfTurn = 1U << 12;
/// Those that run by steps are looked at every so many steps of all of them.
constexpr std::uint64_t kStepsOfTurn = 1U << 12;

/// For workers whose instructions are counted one by one though nobody else asks for them.
InstructionObserver* nobody() {
  class Nobody : public InstructionObserver {
    void issued(const IssuedInstruction&) override {}
  };
  static Nobody observer;
  return &observer;
}

}  // namespace

WorkerLauncher::WorkerLauncher(const MachineConfig& machine, TileMemory& memory,
                               const Weights& weights, CodeStore& code)
    : machine_(machine), memory_(memory), code_(code) {
  for (std::uint32_t id = 0; id < machine.tile.workers; ++id) {
    workers_.emplace_back(machine, memory, weights, id);
  }
}

const WorkerStep* WorkerLauncher::find_step(WorkerContext& worker, std::uint32_t pc) {
  if (last_kind_ != kind(worker)) current_ = nullptr;
  last_pc_ = pc;
  last_kind_ = kind(worker);
  if (code_version_ != memory_.code_version()) {
    code_version_ = memory_.code_version();
    std::erase_if(by_entry_, [&](const auto& entry) { return !entry.second->matches(memory_); });
    current_ = nullptr;
  }
  if (current_ != nullptr) {
    last_step_ = current_->at(pc);
    if (last_step_ != nullptr) return last_step_;
  }
  current_ = code_at(worker, pc);
  if (!worker.moded && current_->may_read_float_status()) {
    watch_float_status(worker);
    current_ = code_at(worker, pc);
    last_kind_ = kind(worker);
  }
  last_step_ = current_->entry();
  return last_step_;
}

const WorkerCode* WorkerLauncher::code_at(const WorkerContext& worker, std::uint32_t pc) {
  const auto [found, is_new] = by_entry_.try_emplace({pc, kind(worker)}, nullptr);
  if (is_new) {
    found->second = code_.find(pc, memory_, kind(worker));
    found->second->mark_decoded(memory_);
  }
  return found->second;
}

bool WorkerLauncher::gives_up(WorkerContext& worker, const WorkerStep* step, std::uint64_t slots) {
  if (slots > kMostSlots) [[unlikely]] {
    worker.fail(kEndless, step->pc);
    return true;
  }
  if (poll_ != nullptr && (*poll_)()) [[unlikely]] {
    worker.stop = WorkerContext::Stop::kInterrupted;
    return true;
  }
  return false;
}

std::uint64_t WorkerLauncher::run_lines(WorkerContext& worker, const WorkerStep* step) {
  std::uint64_t slots = 0;
  std::uint64_t unchecked = 0;  ///< instructions since the worker was last looked at
  while (true) {
    StepCost cost;
    const WorkerStep* last = step;
    const auto go_on = [&] {
      last = step;
      cost += step->cost;
      step = step->run(worker, step);
      return step != nullptr;
    };
    // Several steps a round: the host predicts each call by its place, and jumps back less often.
    while (go_on() && go_on() && go_on() && go_on() && cost.count() < kInstructionsOfTurn) {
    }
    bool in_line = false;  // whether what stopped was no turn of a repeated body
    if (step == nullptr) {
      for (const WorkerStep* at = last; !in_line; at = at->next) {
        in_line = at == worker.stopped;
        if (!at->runs_on()) break;
        // The steps behind it were counted and have not run.
        if (in_line) cost -= at->next->cost;
      }
      // Nor is one counted that faulted: that is dated to its slot.
      if (in_line && worker.stop == WorkerContext::Stop::kFault) cost -= worker.stopped->own_cost();
    }
    slots += cost.slots();
    instructions_ += cost.instructions();
    unchecked += cost.count();
    if (step == nullptr) {
      if (worker.stop != WorkerContext::Stop::kJump) return slots;
      step = step_at(worker, worker.pc);
      if (unchecked < kInstructionsOfTurn) continue;
    }
    unchecked = 0;
    if (gives_up(worker, step, slots + worker.repeated_slots)) return slots;
  }
}

std::uint64_t WorkerLauncher::run(WorkerContext& worker, const WorkerStep* step) {
  const std::uint64_t slots = run_lines(worker, step);
  instructions_ += worker.repeated_instructions;
  return slots + worker.repeated_slots;
}

const WorkerStep* WorkerLauncher::run_step(WorkerContext& worker, const WorkerStep* step) {
  worker.observe(*step);
  const WorkerStep* next = step->run(worker, step);
  if (next == nullptr && worker.repeat.turns > 0) worker.stop_in_body();
  if (next == nullptr && worker.stop == WorkerContext::Stop::kFault) return nullptr;
  instructions_ += step->own_cost().instructions();
  if (next == nullptr && worker.stop == WorkerContext::Stop::kJump) {
    next = step_at(worker, worker.pc);
  }
  if (worker.repeat.turns == 0 || next != worker.repeat.end) return next;
  return --worker.repeat.turns == 0 ? next : worker.repeat.first;
}

void WorkerLauncher::run_by_steps(SupervisorContext& supervisor, std::uint64_t issue,
                                  std::vector<Running> running) {
  for (std::uint64_t steps = 1; !running.empty() && !interrupted_; ++steps) {
    const auto now =
        std::min_element(running.begin(), running.end(), [](const Running& a, const Running& b) {
          return a.worker->next_cycle < b.worker->next_cycle;
        });
    WorkerContext& worker = *now->worker;
    const std::uint64_t issued = worker.next_cycle;
    if (worker.moded) [[unlikely]]
      enter_float_mode(worker);
    now->step = run_step(worker, now->step);
    if (worker.moded) leave_float_mode();
    if (steps % kStepsOfTurn == 0 && now->step != nullptr) {
      const std::uint64_t slots = (issued - now->first_cycle) / machine_.tile.workers;
      if (gives_up(worker, now->step, slots)) now->step = nullptr;
    }
    if (now->step != nullptr) continue;
    // A fault is dated to the slot of its instruction.
    const bool faulted = worker.stop == WorkerContext::Stop::kFault;
    end(supervisor, issue, worker, now->first_cycle, faulted ? issued : worker.next_cycle);
    running.erase(now);
  }
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
  if (races_ != nullptr) races_->begin(worker.id, issue);
  worker.next_cycle = supervisor.slots.first_of(worker.id, issue, machine_.costs.runall);
  return worker.next_cycle;
}

void WorkerLauncher::end(SupervisorContext& supervisor, std::uint64_t issue,
                         const WorkerContext& worker, std::uint64_t first_cycle,
                         std::uint64_t end) {
  if (worker.moded) [[unlikely]]
    leave_float_mode();
  if (worker.stop == WorkerContext::Stop::kFault) [[unlikely]] {
    keep_earlier({end, "worker " + std::to_string(worker.id), worker.pc, worker.cause});
  }
  interrupted_ |= worker.stop == WorkerContext::Stop::kInterrupted;
  if (races_ != nullptr) races_->end(end);
  supervisor.slots.start(worker.id, first_cycle, end);
  if (launches_.count == 0) {
    launches_.first_pc = supervisor.pc;
    launches_.first_calls_step = supervisor.calls.step();
    launches_.first_cycle = issue;
  }
  launches_.last_exit_cycle = std::max(launches_.last_exit_cycle, end);
  launches_.add(supervisor.pc, supervisor.calls.step(), issue, supervisor.loops.all());
  busy_cycles_ += end - first_cycle;
  busy_cycles_of_[worker.id % busy_cycles_of_.size()] += end - first_cycle;
}

void WorkerLauncher::launch(SupervisorContext& supervisor, std::uint64_t issue,
                            WorkerContext& worker, std::uint32_t entry, std::uint32_t vertex_base) {
  const std::uint64_t first_cycle = begin(supervisor, issue, worker, vertex_base);
  const WorkerStep* step = step_at(worker, entry);
  if (worker.observer == nullptr && current_->reads_cycle_counter()) [[unlikely]] {
    worker.observer = nobody();
    step = step_at(worker, entry);
  }
  if (worker.observer != nullptr) {
    run_by_steps(supervisor, issue, {{&worker, step, first_cycle}});
  } else {
    const std::uint64_t slots = run(worker, step);
    end(supervisor, issue, worker, first_cycle, first_cycle + slots * machine_.tile.workers);
  }
}

void WorkerLauncher::run_batch(SupervisorContext& supervisor, std::uint64_t issue,
                               std::uint32_t entry, std::uint32_t state, std::uint32_t stride) {
  if (in_turn_) [[unlikely]] {
    SUPERSTEP_CHECK(races_ == nullptr, "workers are checked for races one after the other");
    std::vector<Running> running;
    for (WorkerContext& worker : workers_) {
      const std::uint64_t first_cycle =
          begin(supervisor, issue, worker, state + worker.id * stride);
      if (worker.observer == nullptr) worker.observer = nobody();
      running.push_back({&worker, step_at(worker, entry), first_cycle});
    }
    leave_float_mode();
    run_by_steps(supervisor, issue, std::move(running));
  } else {
    for (WorkerContext& worker : workers_) {
      launch(supervisor, issue, worker, entry, state + worker.id * stride);
      if (interrupted_) [[unlikely]]
        return;
    }
  }
  ++launches_.count;
}

bool WorkerLauncher::run_single(SupervisorContext& supervisor, std::uint64_t issue,
                                std::uint32_t entry, std::uint32_t state_offset) {
  for (WorkerContext& worker : workers_) {
    if (supervisor.slots.busy(worker.id, issue)) continue;
    launch(supervisor, issue, worker, entry, machine_.tile.memory_base + state_offset);
    ++launches_.count;
    return true;
  }
  return false;
}

void WorkerLauncher::check_races() {
  races_ = std::make_unique<RaceCheck>();
  for (WorkerContext& worker : workers_) {
    worker.races = races_.get();
    worker.port.refuse_all();
  }
}

void WorkerLauncher::keep_earlier(TileFault fault) {
  if (!fault_ || fault.cycle < fault_->cycle) fault_ = std::move(fault);
}

}  // namespace superstep
