#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "sim/tile/memory.h"

namespace superstep {

class WorkerCode;
struct WorkerStep;

/// What a supervisor does from an instruction on until it waits for its workers.
struct SupervisorPath {
  std::uint32_t pc = 0;  ///< of the instruction
  /// It may see what the workers do, or change it.
  bool meets_workers = false;
  std::uint32_t first_word = 0, words = 0, room = 0;  ///< the code that says so, in `LookAhead`
  std::uint64_t code_version = 0;                     ///< of the memory, when it said so
  /// What was launched right in front of it last, in the ordinary mode, and where that began.
  const WorkerCode* launched = nullptr;
  const WorkerStep* first_step = nullptr;
  std::uint32_t entry = 0;
  /// Launched right in front of it, and checked for races last.
  const WorkerCode* checked = nullptr;
  SupervisorPath* next = nullptr;  ///< the other one that was taken behind it last
};

/// Looks ahead in the code of a tile's supervisor.
class LookAhead {
 public:
  /// `memory` outlives it.
  explicit LookAhead(TileMemory& memory) : memory_(memory) {}

  /// The path from `pc` on. Its code is looked at when it is new or has changed. The reference
  /// stays valid.
  [[nodiscard]] SupervisorPath& from(std::uint32_t pc);
  /// Whether other code lies on a path than when it was looked at.
  [[nodiscard]] bool has_changed(const SupervisorPath& path) const {
    return path.code_version != memory_.code_version() && has_other_words(path);
  }

  [[nodiscard]] std::deque<SupervisorPath>& paths() { return paths_; }
  /// No path has been checked.
  void forget_checked() {
    for (SupervisorPath& path : paths_) path.checked = nullptr;
  }

 private:
  struct Word {
    std::uint32_t address = 0;
    std::uint32_t value = 0;
  };

  [[nodiscard]] SupervisorPath& path_at(std::uint32_t pc);
  [[nodiscard]] bool has_other_words(const SupervisorPath& path) const;
  void follow(SupervisorPath& path);

  TileMemory& memory_;
  std::deque<SupervisorPath> paths_;  ///< in the order in which they were first taken
  std::unordered_map<std::uint32_t, SupervisorPath*> by_pc_;
  SupervisorPath* last_ = nullptr;  ///< that was taken
  std::vector<Word> words_;
};

}  // namespace superstep
