#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/tile/code_store.h"
#include "sim/tile/memory.h"
#include "sim/tile/worker_context.h"

namespace superstep {

/// The worker code of a tile as it is decoded, where workers have entered it, as long as memory
/// holds it.
class WorkerCodes {
 public:
  WorkerCodes(TileMemory& memory, CodeStore& code) : memory_(memory), code_(code) {}

  /// Where a worker goes on at `pc`.
  const WorkerStep* step_at(WorkerContext& worker, std::uint32_t pc) {
    const bool known =
        pc == last_pc_ && kind(worker) == last_kind_ && version_ == memory_.code_version();
    return known ? last_step_ : find(worker, pc);
  }
  /// The code that the last step is of.
  [[nodiscard]] const WorkerCode* current() const { return current_; }
  /// The kind of that step; of a worker whose mode follows from its code, the new one.
  [[nodiscard]] CodeKind last_kind() const { return last_kind_; }
  /// How workers execute what they come to.
  static CodeKind kind(const WorkerContext& worker) {
    if (worker.moded) return CodeKind::kModed;
    if (worker.observer != nullptr) return CodeKind::kObserved;
    return worker.races != nullptr ? CodeKind::kCareful : CodeKind::kOrdinary;
  }

  /// Whether what was found when memory had a version of its code is there still.
  [[nodiscard]] bool holds(std::uint64_t version) const {
    return version == memory_.code_version() && version == version_;
  }
  /// What was found then for `pc`, of the ordinary kind, is the last that was found.
  void found_again(const WorkerCode* code, std::uint32_t pc, const WorkerStep* step) {
    current_ = code;
    last_pc_ = pc;
    last_kind_ = CodeKind::kOrdinary;
    last_step_ = step;
  }

  /// Which code is known bears on which words count as decoded.
  template <class Archive>
  void state(Archive& archive);

 private:
  using Entry = std::pair<std::uint32_t, CodeKind>;

  const WorkerStep* find(WorkerContext& worker, std::uint32_t pc);
  const WorkerCode* code_at(const WorkerContext& worker, std::uint32_t pc);

  /// No instruction is there.
  static constexpr std::uint32_t kNoPc = 1;

  TileMemory& memory_;
  CodeStore& code_;
  std::map<Entry, const WorkerCode*> by_entry_;
  const WorkerCode* current_ = nullptr;
  std::uint32_t last_pc_ = 0;  ///< what `find` last found
  CodeKind last_kind_ = CodeKind::kOrdinary;
  const WorkerStep* last_step_ = nullptr;
  std::uint64_t version_ = ~std::uint64_t{0};  ///< of what is kept; at first nothing is
};

template <class Archive>
void WorkerCodes::state(Archive& archive) {
  auto& [memory, store, by_entry, current, last_pc, last_kind, last_step, version] = *this;
  std::vector<std::pair<Entry, const WorkerCode*>> known(by_entry.begin(), by_entry.end());
  bool has_current = current != nullptr, is_new = version != memory.code_version();
  archive(known, last_kind, has_current, is_new);
  if (has_current) archive(current);
  if constexpr (Archive::kReads) {
    if (!has_current) current = nullptr;
    by_entry = {known.begin(), known.end()};
    version = is_new ? ~std::uint64_t{0} : memory.code_version();
    last_pc = kNoPc;
  }
}

}  // namespace superstep
