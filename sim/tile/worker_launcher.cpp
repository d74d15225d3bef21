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

/// A worker is looked at from outside each time it has executed 2^12 instructions. They take less
/// slots than `WorkerStep::cost` has room for.
constexpr std::uint64_t kTurnCost = std::uint64_t{1} << (WorkerStep::kCostShift + 12);
/// Workers that issue in turn are looked at every so many instructions of all of them.
constexpr std::uint64_t kPollPeriod = 1U << 12;

/// For workers whose instructions are counted one by one though nobody else asks for them.
InstructionObserver* nobody() {
  class Nobody : public InstructionObserver {
    void issued(const IssuedInstruction&) override {}
  };
  static Nobody observer;
  return &observer;
}

}  // namespace

const WorkerStep* WorkerLauncher::find_step(std::uint32_t pc) {
  if (last_kind_ != kind()) current_ = nullptr;
  last_pc_ = pc;
  last_kind_ = kind();
  if (code_version_ != memory_.code_version()) {
    code_version_ = memory_.code_version();
    std::erase_if(by_entry_, [&](const auto& entry) { return !entry.second->matches(memory_); });
    current_ = nullptr;
  }
  if (current_ != nullptr) {
    last_step_ = current_->at(pc);
    if (last_step_ != nullptr) return last_step_;
  }
  current_ = code_at(pc);
  if (!context_.moded && current_->may_read_float_status()) {
    watch_float_status(context_);
    current_ = code_at(pc);
    last_kind_ = kind();
  }
  last_step_ = current_->entry();
  return last_step_;
}

const WorkerCode* WorkerLauncher::code_at(std::uint32_t pc) {
  const auto [found, is_new] = by_entry_.try_emplace({pc, kind()}, nullptr);
  if (is_new) {
    found->second = code_.find(pc, memory_, kind());
    found->second->mark_decoded(memory_);
  }
  return found->second;
}

template <bool kObserved>
std::uint64_t WorkerLauncher::execute(const WorkerStep* step) {
  std::uint64_t slots = 0;
  std::uint64_t unchecked = 0;  ///< cost since the worker was last looked at
  while (true) {
    std::uint64_t cost = 0;
    const WorkerStep* last = step;
    const auto go_on = [&] {
      last = step;
      cost += step->cost;
      if constexpr (kObserved) context_.observe(*step);
      step = step->run(context_, step);
      return step != nullptr;
    };
    // Several steps a round: the host predicts each call by its place, and jumps back less often.
    while (go_on() && go_on() && go_on() && go_on() && cost < kTurnCost) {
    }
    bool in_line = false;  // whether what stopped was no turn of a repeated body
    if (step == nullptr) {
      for (const WorkerStep* at = last; !in_line; at = at->next) {
        in_line = at == context_.stopped;
        if (!at->runs_on()) break;
        // The steps behind it were counted and have not run.
        if (in_line) cost -= at->next->cost;
      }
    }
    slots += WorkerStep::slots_of(cost);
    instructions_ += cost >> WorkerStep::kCostShift;
    unchecked += cost;
    if (step == nullptr) {
      if (context_.stop != WorkerContext::Stop::kJump) {
        // A fault is dated to the slot of its instruction.
        const bool here = context_.stop == WorkerContext::Stop::kFault && in_line;
        return here ? slots - context_.stopped->slots() : slots;
      }
      step = step_at(context_.pc);
      if (unchecked < kTurnCost) continue;
    }
    unchecked = 0;
    if (slots + context_.extra_slots > kMostSlots) [[unlikely]] {
      context_.stop = WorkerContext::Stop::kFault;
      context_.cause = kEndless;
      context_.pc = step->pc;
      return slots;
    }
    if (poll_ != nullptr && (*poll_)()) [[unlikely]] {
      context_.stop = WorkerContext::Stop::kInterrupted;
      return slots;
    }
  }
}

std::uint64_t WorkerLauncher::run(std::uint32_t entry, std::uint64_t first_cycle) {
  const WorkerStep* first = step_at(entry);
  InstructionObserver* const observer = context_.observer;
  if (observer == nullptr && current_->reads_cycle_counter()) [[unlikely]] {
    context_.observer = nobody();
    first = step_at(entry);
  }
  const bool is_observed = context_.observer != nullptr;
  const std::uint64_t slots = is_observed ? execute<true>(first) : execute<false>(first);
  context_.observer = observer;
  instructions_ += context_.extra_instructions;
  return first_cycle + (slots + context_.extra_slots) * machine_.tile.workers;
}

std::uint64_t WorkerLauncher::begin(SupervisorContext& supervisor, std::uint64_t issue,
                                    std::uint32_t id, std::uint32_t vertex_base) {
  context_.id = id;
  context_.tas = 0;
  context_.random = &random_[id % random_.size()];
  context_.cause = nullptr;
  context_.last_repeat = nullptr;
  context_.extra_slots = 0;
  context_.extra_instructions = 0;
  context_.port.open();
  context_.begin(retained_[id % retained_.size()]);
  context_.registers[isa::kWorkerBase] = supervisor.csrs[kFirstWorkerBase + id];
  context_.registers[isa::kVertexBase] = vertex_base;
  context_.fp = {};
  if (supervisor.sets_float_state) [[unlikely]] {
    context_.fp.format = supervisor.csrs[isa::kFpInfmt];
    context_.fp.scale = supervisor.csrs[isa::kFpIscl];
    set_float_control(context_, supervisor.csrs[isa::kFpIctl]);
  }
  context_.next_cycle = supervisor.slots.first_of(id, issue, machine_.costs.runall);
  return context_.next_cycle;
}

void WorkerLauncher::end(SupervisorContext& supervisor, std::uint64_t issue,
                         std::uint64_t first_cycle, std::uint64_t end) {
  const std::uint32_t id = context_.id;
  if (context_.moded) [[unlikely]]
    leave_float_mode(context_);
  if (context_.stop == WorkerContext::Stop::kFault) [[unlikely]] {
    keep_earlier({end, "worker " + std::to_string(id), context_.pc, context_.cause});
  }
  interrupted_ |= context_.stop == WorkerContext::Stop::kInterrupted;
  context_.end(retained_[id % retained_.size()]);
  supervisor.slots.start(id, first_cycle, end);
  if (launches_.count == 0) {
    launches_.first_pc = supervisor.pc;
    launches_.first_cycle = issue;
  }
  launches_.last_exit_cycle = std::max(launches_.last_exit_cycle, end);
  if (launches_.places.empty() || launches_.places.back().pc < supervisor.pc) {
    launches_.places.push_back({supervisor.pc, issue});
  }
  busy_cycles_ += end - first_cycle;
  busy_cycles_of_[id % busy_cycles_of_.size()] += end - first_cycle;
}

void WorkerLauncher::launch(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t id,
                            std::uint32_t entry, std::uint32_t vertex_base) {
  const std::uint64_t first_cycle = begin(supervisor, issue, id, vertex_base);
  if (races_ != nullptr) races_->begin(id, issue);
  const std::uint64_t left = run(entry, first_cycle);
  if (races_ != nullptr) races_->end(left);
  end(supervisor, issue, first_cycle, left);
}

const WorkerStep* WorkerLauncher::take_turn(const WorkerStep* step) {
  context_.observe(*step);
  instructions_ += step->instructions();
  const WorkerStep* next = step->run(context_, step);
  if (context_.repeat.turns > 0) {
    if (next == context_.repeat.end && --context_.repeat.turns > 0) return context_.repeat.first;
    if (next == nullptr && context_.stop == WorkerContext::Stop::kJump) {
      context_.cause = "a store over code inside an rpt body";
      context_.stop = WorkerContext::Stop::kFault;
    }
  }
  return next == nullptr && context_.stop == WorkerContext::Stop::kJump ? step_at(context_.pc)
                                                                        : next;
}

void WorkerLauncher::run_in_turn(SupervisorContext& supervisor, std::uint64_t issue,
                                 std::uint32_t entry, std::uint32_t state, std::uint32_t stride) {
  SUPERSTEP_CHECK(races_ == nullptr, "workers are checked for races one after the other");
  struct Running {
    WorkerContext context;
    const WorkerStep* step;
    std::uint64_t first_cycle;
  };
  InstructionObserver* const observer = context_.observer;
  if (observer == nullptr) context_.observer = nobody();
  context_.in_turn = true;
  std::vector<Running> running;
  for (std::uint32_t id = 0; id < machine_.tile.workers; ++id) {
    const std::uint64_t first_cycle = begin(supervisor, issue, id, state + id * stride);
    running.push_back({context_, step_at(entry), first_cycle});
    if (context_.moded) leave_float_mode(context_);
  }
  for (std::uint64_t turn = 1; !running.empty(); ++turn) {
    const auto now =
        std::min_element(running.begin(), running.end(), [](const Running& a, const Running& b) {
          return a.context.next_cycle < b.context.next_cycle;
        });
    context_ = now->context;
    if (context_.moded) set_float_control(context_, context_.fp.control);
    const std::uint64_t issued = context_.next_cycle;
    now->step = take_turn(now->step);
    if (turn % kPollPeriod == 0 && now->step != nullptr) {
      if (poll_ != nullptr && (*poll_)()) {
        context_.stop = WorkerContext::Stop::kInterrupted;
        now->step = nullptr;
      } else if (issued - now->first_cycle > kMostSlots * machine_.tile.workers) {
        context_.stop = WorkerContext::Stop::kFault;
        context_.cause = kEndless;
        context_.pc = now->step->pc;
        now->step = nullptr;
      }
    }
    if (now->step != nullptr) {
      now->context = context_;
      if (context_.moded) leave_float_mode(context_);
      continue;
    }
    // A fault is dated to the slot of its instruction.
    const bool faulted = context_.stop == WorkerContext::Stop::kFault;
    end(supervisor, issue, now->first_cycle, faulted ? issued : context_.next_cycle);
    running.erase(now);
    if (interrupted_) break;
  }
  context_.in_turn = false;
  context_.observer = observer;
}

void WorkerLauncher::run_batch(SupervisorContext& supervisor, std::uint64_t issue,
                               std::uint32_t entry, std::uint32_t state, std::uint32_t stride) {
  if (in_turn_) [[unlikely]] {
    run_in_turn(supervisor, issue, entry, state, stride);
    ++launches_.count;
    return;
  }
  for (std::uint32_t id = 0; id < machine_.tile.workers; ++id) {
    launch(supervisor, issue, id, entry, state + id * stride);
    if (interrupted_) [[unlikely]]
      return;
  }
  ++launches_.count;
}

bool WorkerLauncher::run_single(SupervisorContext& supervisor, std::uint64_t issue,
                                std::uint32_t entry, std::uint32_t state_offset) {
  for (std::uint32_t id = 0; id < machine_.tile.workers; ++id) {
    if (supervisor.slots.busy(id, issue)) continue;
    launch(supervisor, issue, id, entry, machine_.tile.memory_base + state_offset);
    ++launches_.count;
    return true;
  }
  return false;
}

void WorkerLauncher::check_races() {
  races_ = std::make_unique<RaceCheck>();
  context_.races = races_.get();
  context_.port.refuse_all();
}

void WorkerLauncher::keep_earlier(TileFault fault) {
  if (!fault_ || fault.cycle < fault_->cycle) fault_ = std::move(fault);
}

}  // namespace superstep
