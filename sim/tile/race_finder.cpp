#include "sim/tile/race_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace superstep {

static_assert(sizeof(RaceShadow::Word) == 24);

RaceShadow::RaceShadow(const MachineConfig& machine)
    : base_(machine.tile.memory_base),
      pages_(map_host_pages(sizeof(Word) * ((machine.tile.memory_bytes + 3) / 4))) {}

std::unique_ptr<RaceShadow> RaceShadows::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<RaceShadow> shadow = std::move(free_.back());
      free_.pop_back();
      return shadow;
    }
  }
  return std::make_unique<RaceShadow>(machine_);
}

void RaceShadows::give_back(std::unique_ptr<RaceShadow> shadow) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(shadow));
}

RaceShadow::RunNumber RaceFinder::begin(std::uint32_t worker, std::uint64_t issue) {
  if (std::ranges::all_of(runs_, [&](const RunSpan& run) { return run.end <= issue; })) {
    runs_.clear();
    if (shadow_ != nullptr && shadow_->is_used_up()) shadow_.reset();
    if (shadow_ == nullptr) shadow_ = shadows_.take();
  }
  const RunNumber run = shadow_->next_run();
  if (runs_.empty()) first_run_ = run;
  runs_.push_back({worker, issue});
  return run;
}

void RaceFinder::pause() {
  runs_.clear();
  if (shadow_ != nullptr) shadows_.give_back(std::move(shadow_));
}

const char* RaceFinder::access(RunNumber run, std::uint32_t pc, std::uint32_t address,
                               std::uint32_t bytes, bool writes) {
  for (std::uint32_t word = address & ~3U; word < address + bytes; word += 4) {
    RaceShadow::Word& known = shadow_->word(word);
    auto& [first, second] = known.readers;
    if (races(known.writer, run)) return explain(known.writer, true, word, writes);
    if (writes) {
      if (races(first, run)) return explain(first, false, word, true);
      if (races(second, run)) return explain(second, false, word, true);
      known.writer = {run, pc};
      continue;
    }
    if (first.run == run || second.run == run) continue;
    // What this run comes after tells no more than this run itself.
    const bool keeps_first =
        races(first, run) && (!races(second, run) || end_of(second) <= end_of(first));
    (keeps_first ? second : first) = {run, pc};
  }
  return nullptr;
}

const char* RaceFinder::explain(const Access& other, bool other_wrote, std::uint32_t word,
                                bool writes) {
  message_ = fmt::format(
      "a race: {} the word at {:#x}, which worker {} {} at pc {:#x} in the same "
      "launch; workers that run at the same time may not share words that one "
      "of them writes",
      writes ? "writes" : "reads", word, runs_[other.run - first_run_].worker,
      other_wrote ? "writes" : "reads", other.pc);
  return message_.c_str();
}

}  // namespace superstep
