#include "sim/tile/worker_launcher.h"

#include <algorithm>

#include "isa/registers.h"

namespace superstep {

namespace {

/// A worker that takes more slots than this is taken for an endless loop: about 20 seconds of
/// machine time.
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 34;

}  // namespace

const WorkerStep* WorkerLauncher::step_at(std::uint32_t pc) {
  if (code_version_ != memory_.code_version()) {
    code_version_ = memory_.code_version();
    std::erase_if(by_entry_, [&](const auto& entry) { return !entry.second->matches(memory_); });
    current_ = nullptr;
  }
  if (current_ != nullptr) {
    if (const WorkerStep* step = current_->at(pc)) return step;
  }
  const auto [found, is_new] = by_entry_.try_emplace(pc, nullptr);
  if (is_new) {
    found->second = code_.find(pc, memory_);
    found->second->mark_decoded(memory_);
  }
  current_ = found->second;
  return current_->entry();
}

std::uint64_t WorkerLauncher::run(const Start& start) {
  context_.registers.fill(0);
  context_.registers[isa::kWorkerBase] = start.worker_base;
  context_.registers[isa::kVertexBase] = start.vertex_base;
  context_.accumulators.fill(0.0F);
  context_.id = start.id;
  context_.tas = 0;
  context_.fp_control = start.fp_control;
  context_.random = random_[start.id % random_.size()];
  context_.cause = nullptr;
  context_.extra_slots = 0;
  context_.extra_instructions = 0;
  context_.port.open();

  std::uint64_t slots = 0, instructions = 0;
  const WorkerStep* step = step_at(start.entry);
  const WorkerStep* last = step;
  while (true) {
    while (step != nullptr) {
      last = step;
      slots += step->slots;
      instructions += step->instructions;
      if (slots + context_.extra_slots > kMostSlots) [[unlikely]] {
        context_.stop = WorkerContext::Stop::kFault;
        context_.cause = "more than 2^34 slots: an endless loop";
        context_.pc = step->pc;
        break;
      }
      step = step->run(context_, step);
    }
    if (context_.stop != WorkerContext::Stop::kJump) break;
    step = step_at(context_.pc);
  }
  random_[start.id % random_.size()] = context_.random;
  instructions_ += instructions + context_.extra_instructions;
  const bool faulted = context_.stop == WorkerContext::Stop::kFault;
  // A fault is dated to the slot of its instruction.
  if (faulted && last->pc == context_.pc) slots -= last->slots;
  const std::uint64_t end =
      start.first_cycle + (slots + context_.extra_slots) * machine_.tile.workers;
  if (faulted) {
    keep_earlier({end, "worker " + std::to_string(start.id), context_.pc, context_.cause});
  }
  return end;
}

void WorkerLauncher::launch(SupervisorContext& supervisor, std::uint64_t issue, Start start) {
  start.worker_base = supervisor.csrs[kFirstWorkerBase + start.id];
  start.fp_control = supervisor.csrs[isa::kFpIctl];
  start.first_cycle = supervisor.slots.first_of(start.id, issue, machine_.costs.runall);
  if (races_ != nullptr) races_->begin(start.id, issue);
  const std::uint64_t end = run(start);
  if (races_ != nullptr) races_->end(end);
  supervisor.slots.start(start.id, start.first_cycle, end);
  if (launches_.count == 0) {
    launches_.first_pc = supervisor.pc;
    launches_.first_cycle = issue;
  }
  launches_.last_exit_cycle = std::max(launches_.last_exit_cycle, end);
}

void WorkerLauncher::run_batch(SupervisorContext& supervisor, std::uint64_t issue,
                               std::uint32_t entry, std::uint32_t state, std::uint32_t stride) {
  for (std::uint32_t id = 0; id < machine_.tile.workers; ++id) {
    launch(supervisor, issue, {.id = id, .entry = entry, .vertex_base = state + id * stride});
  }
  ++launches_.count;
}

bool WorkerLauncher::run_single(SupervisorContext& supervisor, std::uint64_t issue,
                                std::uint32_t entry, std::uint32_t state_offset) {
  for (std::uint32_t id = 0; id < machine_.tile.workers; ++id) {
    if (supervisor.slots.busy(id, issue)) continue;
    launch(supervisor, issue,
           {.id = id, .entry = entry, .vertex_base = machine_.tile.memory_base + state_offset});
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
