#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isa/link.h"
#include "isa/machine_config.h"
#include "sim/tile/instruction_observer.h"
#include "sim/instruction_counts.h"
#include "sim/tile/tile.h"

namespace superstep {

/// How an entry point is called.
enum class CodeletKind : std::uint8_t {
  kWorker,       ///< one worker runs it
  kMultiVertex,  ///< every worker runs it, all with the same vertex state
  kSupervisor,   ///< the supervisor calls it with $m0 = vertex state; `br $lr` returns
};

/// What one call of an entry point took.
struct CodeletCost {
  /// From the first instruction of the supervisor function to the first one after its return: the
  /// difference of the tile's cycle counter just inside the call. Of a worker or multivertex the
  /// function is `setzi; run or runall; sync; br $lr`.
  std::uint64_t cycles = 0;
  /// By worker, of all its launches: issue slots from first issue to exit.
  std::vector<std::uint64_t> worker_slots;
  InstructionCounts worker_instructions;  ///< of all workers

  std::uint32_t issue_period = 1;  ///< of the machine

  /// The slots of the slowest worker as clocks of the tile.
  [[nodiscard]] std::uint64_t slowest_worker_clocks() const;
};

/// One tile of a machine on which entry points are called as the vendor's programs call them
/// (docs/run-codelet.md). Memory, common weights and random states outlive a call.
class CodeletRun {
 public:
  /// Throws DoesNotFit when region 0 has no room for the stacks.
  explicit CodeletRun(MachineConfig machine);
  ~CodeletRun();

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  /// The part of region 0 that is free for code, vertex state and data.
  [[nodiscard]] std::uint32_t free_begin() const;
  [[nodiscard]] std::uint32_t free_end() const;

  /// Copies bytes in or out; false, and nothing done, when they are not all in the memory.
  [[nodiscard]] bool write(std::uint32_t address, std::span<const std::byte> bytes);
  [[nodiscard]] bool read(std::uint32_t address, std::span<std::byte> bytes);

  /// Writes code to where it was linked for.
  void load(const LinkedCode& code);

  /// Of the launches to come: modes of floating-point arithmetic, as FP_ICTL has them.
  void set_fp_control(std::uint32_t fp_ictl) { fp_control_ = fp_ictl; }
  /// Sees each instruction of the calls to come, but not those around them; none when null.
  void observe(InstructionObserver* observer) { observer_ = observer; }
  /// From now on workers that share a word without order are a fault.
  void check_races() { tile_.check_races(RaceChecks::kAlways, race_shadows_); }
  /// From now on the workers of a `runall` issue in turn: some wait for one another.
  void take_turns() { tile_.take_turns(); }
  /// Calls ask it every now and then whether to stop; they end with a fault then.
  void poll(std::function<bool()> interrupted);

  /// Calls what is at `entry`. After a fault the tile must not be called again.
  CodeletCost call(CodeletKind kind, std::uint32_t entry, std::uint32_t vertex_state);
  /// What went wrong in the last call. Its cycle counts from the first instruction, as
  /// `CodeletCost::cycles` does.
  [[nodiscard]] const std::optional<TileFault>& fault() const { return fault_; }

 private:
  class CallObserver;

  struct Program {
    std::vector<std::uint32_t> words;
    std::uint32_t return_pc = 0;  ///< of the `sync` behind the call
  };
  [[nodiscard]] Program program_for(CodeletKind kind, std::uint32_t entry,
                                    std::uint32_t vertex_state) const;
  [[nodiscard]] std::uint32_t stacks_begin() const;

  MachineConfig machine_;
  CodeStore code_;
  RaceShadows race_shadows_;
  Tile tile_;
  std::unique_ptr<CallObserver> call_observer_;
  InstructionObserver* observer_ = nullptr;
  std::function<bool()> poll_;
  std::uint32_t fp_control_ = 0;
  std::uint64_t clock_ = 0;  ///< of the tile, after what ran so far
  std::optional<TileFault> fault_;
};

}  // namespace superstep
