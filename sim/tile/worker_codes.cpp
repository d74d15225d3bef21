#include "sim/tile/worker_codes.h"

#include "sim/tile/float_mode.h"

namespace superstep {

const WorkerStep* WorkerCodes::find(WorkerContext& worker, std::uint32_t pc) {
  if (last_kind_ != kind(worker)) current_ = nullptr;
  last_pc_ = pc;
  last_kind_ = kind(worker);
  if (version_ != memory_.code_version()) {
    version_ = memory_.code_version();
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

const WorkerCode* WorkerCodes::code_at(const WorkerContext& worker, std::uint32_t pc) {
  const auto [found, is_new] = by_entry_.try_emplace({pc, kind(worker)}, nullptr);
  if (is_new) {
    found->second = code_.find(pc, memory_, kind(worker));
    found->second->mark_decoded(memory_);
  }
  return found->second;
}

}  // namespace superstep
