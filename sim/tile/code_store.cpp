#include "sim/tile/code_store.h"

#include <utility>

#include "sim/tile/amp_line.h"
#include "sim/tile/worker_context.h"
#include "sim/tile/worker_decoder.h"

namespace superstep {

WorkerCode::WorkerCode() = default;
WorkerCode::~WorkerCode() = default;

const WorkerStep* WorkerCode::at(std::uint32_t pc) const {
  const std::uint32_t index = (pc - begin_) / 4;
  return pc % 4 == 0 && index < by_word_.size() ? by_word_[index] : nullptr;
}

std::uint32_t WorkerCode::entry_pc() const { return entry_->pc; }

bool WorkerCode::matches(const TileMemory& memory) const {
  for (const Word& word : words_) {
    if (memory.word(word.address) != word.value) return false;
  }
  return true;
}

void WorkerCode::mark_decoded(TileMemory& memory) const {
  for (const Word& word : words_) memory.mark_decoded(word.address);
}

CodeStore::CodeStore(MachineConfig machine) : machine_(std::move(machine)) {}
CodeStore::~CodeStore() = default;

const WorkerCode* CodeStore::find(std::uint32_t entry, const TileMemory& memory, CodeKind kind) {
  const std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<WorkerCode>>& known = by_entry_[{entry, kind}];
  for (const std::unique_ptr<WorkerCode>& code : known) {
    if (code->matches(memory)) return code.get();
  }
  return known.emplace_back(WorkerDecoder(machine_, memory, kind).decode(entry)).get();
}

std::size_t CodeStore::size() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [entry, known] : by_entry_) count += known.size();
  return count;
}

}  // namespace superstep
