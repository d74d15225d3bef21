#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isa/machine_config.h"
#include "sim/instruction_counts.h"
#include "sim/simulation.h"
#include "sim/tile/instruction_observer.h"
#include "toolchain/linker.h"

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

/// How entry points are called.
struct CodeletOptions {
  /// Workers of a `runall` issue in turn: some wait for one another.
  bool take_turns = false;
  /// Which launches may not share a word without order.
  RaceChecks check_races = RaceChecks::kNever;
  /// Asked every now and then whether to stop; calls end with a fault then.
  std::function<bool()> interrupted = {};
};

/// A machine with one tile in use, on which entry points are called as the vendor's programs call
/// them (docs/run-codelet.md). Memory, common weights and random states outlive a call.
class CodeletRun {
 public:
  /// Throws DoesNotFit when region 0 has no room for the stacks.
  explicit CodeletRun(MachineConfig machine, CodeletOptions options = {});
  ~CodeletRun();

  [[nodiscard]] const MachineConfig& machine() const { return simulation_.image().machine; }
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

  /// Calls what is at `entry`. After a fault the tile must not be called again.
  CodeletCost call(CodeletKind kind, std::uint32_t entry, std::uint32_t vertex_state);
  /// What went wrong in the last call. Its cycle counts from the first instruction, as
  /// `CodeletCost::cycles` does.
  [[nodiscard]] const std::optional<Trap>& fault() const { return fault_; }

 private:
  class CallObserver;
  class Arrivals;

  [[nodiscard]] std::vector<std::uint32_t> program_for(CodeletKind kind, std::uint32_t entry,
                                                       std::uint32_t vertex_state) const;
  [[nodiscard]] std::uint32_t return_pc() const;
  [[nodiscard]] std::uint32_t stacks_begin() const;
  [[nodiscard]] std::optional<Trap> fault_of(const Stop& stop, bool has_arrived);

  // Observers outlive the simulation.
  std::unique_ptr<Arrivals> arrivals_;
  std::vector<std::unique_ptr<CallObserver>> call_observers_;  ///< of the calls so far
  Simulation simulation_;
  TileView tile_;
  InstructionObserver* observer_ = nullptr;
  std::uint32_t fp_control_ = 0;
  std::optional<Trap> fault_;
};

}  // namespace superstep
