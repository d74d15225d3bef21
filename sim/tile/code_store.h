#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "isa/machine_config.h"
#include "sim/tile/memory.h"

namespace superstep {

struct AmpLine;
struct WorkerStep;
struct StepFault;
struct RepeatedBody;

/// How steps run: in the ordinary mode of floating point, or in it one by one because somebody
/// looks at each, or in any other mode; or in the ordinary one, each access looked at.
enum class CodeKind : std::uint8_t { kOrdinary, kObserved, kModed, kCareful };

/// Worker code that can be reached from one entry without an indirect branch, predecoded.
class WorkerCode {
 public:
  ~WorkerCode();

  [[nodiscard]] const WorkerStep* entry() const { return entry_; }
  /// The step at an address, or null when the code does not reach it.
  [[nodiscard]] const WorkerStep* at(std::uint32_t pc) const;
  /// Whether it reads $FP_STS, or branches to where that may be read: what it raises must be
  /// noticed.
  [[nodiscard]] bool may_read_float_status() const { return may_read_float_status_; }
  /// Whether it reads $COUNT_L or $COUNT_U: each of its steps must be counted.
  [[nodiscard]] bool reads_cycle_counter() const { return reads_cycle_counter_; }
  /// Whether a tile has the words that were decoded.
  [[nodiscard]] bool matches(const TileMemory& memory) const;
  /// Marks those words in a tile that has them.
  void mark_decoded(TileMemory& memory) const;

  struct Word {
    std::uint32_t address;
    std::uint32_t value;
  };
  /// What says all of it: the store makes the same code of a memory with these words.
  [[nodiscard]] std::uint32_t entry_pc() const;
  [[nodiscard]] CodeKind kind() const { return kind_; }
  [[nodiscard]] const std::vector<Word>& words() const { return words_; }

 private:
  friend class WorkerDecoder;
  WorkerCode();

  std::deque<WorkerStep> steps_;
  std::deque<RepeatedBody> bodies_;
  std::deque<AmpLine> amp_lines_;
  std::deque<StepFault> faults_;
  std::vector<Word> words_;  ///< ascending addresses
  std::vector<const WorkerStep*> by_word_;
  std::uint32_t begin_ = 0;
  CodeKind kind_ = CodeKind::kOrdinary;
  bool may_read_float_status_ = false;
  bool reads_cycle_counter_ = false;
  const WorkerStep* entry_ = nullptr;
};

/// Predecoded worker code, interned by content: tiles with equal code share one copy. Safe to use
/// from several host threads.
class CodeStore {
 public:
  explicit CodeStore(MachineConfig machine);
  ~CodeStore();
  CodeStore(const CodeStore&) = delete;
  CodeStore& operator=(const CodeStore&) = delete;

  /// The code of a tile from `entry` on; lives as long as the store.
  [[nodiscard]] const WorkerCode* find(std::uint32_t entry, const TileMemory& memory,
                                       CodeKind kind = CodeKind::kOrdinary);
  /// Number of different pieces of code.
  [[nodiscard]] std::size_t size() const;

 private:
  MachineConfig machine_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::uint32_t, CodeKind>, std::vector<std::unique_ptr<WorkerCode>>> by_entry_;
};

}  // namespace superstep
