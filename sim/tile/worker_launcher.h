#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/tile/code_store.h"
#include "sim/tile/supervisor_context.h"
#include "sim/tile/tile.h"
#include "sim/tile/worker_context.h"

namespace superstep {

/// Runs a tile's workers, each to its end alone; or, when asked to, in turn.
class WorkerLauncher {
 public:
  /// CSR of worker 0's scratch base; the others follow (osmarks/ipu-stack).
  static constexpr std::uint32_t kFirstWorkerBase = 0x21;

  WorkerLauncher(const MachineConfig& machine, TileMemory& memory, const Weights& weights,
                 CodeStore& code)
      : machine_(machine),
        memory_(memory),
        code_(code),
        context_(machine, memory, weights),
        retained_(machine.tile.workers) {}

  /// Workers ask `interrupted`, which outlives the launcher, every now and then, and stop when it
  /// holds.
  void poll(const std::function<bool()>& interrupted) { poll_ = &interrupted; }
  /// A worker has been stopped so; the tile cannot go on.
  [[nodiscard]] bool interrupted() const { return interrupted_; }

  /// `runall` at cycle `issue`.
  void run_batch(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t entry,
                 std::uint32_t state, std::uint32_t stride);
  /// `run` at cycle `issue`, on the first idle worker; false when there is none.
  bool run_single(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t entry,
                  std::uint32_t state_offset);

  /// From now on a word that workers share without order is a fault.
  void check_races();
  /// From now on the workers of a `runall` issue in turn.
  void take_turns() { in_turn_ = true; }
  /// `observer`, which outlives the launcher, sees each step from now on; none when null.
  void observe(InstructionObserver* observer) { context_.observer = observer; }

  [[nodiscard]] const std::optional<TileFault>& fault() const { return fault_; }
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  /// Cycles from first issue to exit, added up over workers.
  [[nodiscard]] std::uint64_t busy_cycles() const { return busy_cycles_; }
  /// The same of one worker.
  [[nodiscard]] std::uint64_t busy_cycles(std::uint32_t id) const {
    return busy_cycles_of_[id % busy_cycles_of_.size()];
  }
  [[nodiscard]] const TileLaunches& launches() const { return launches_; }
  void clear_launches() { launches_.clear(); }

 private:
  /// Makes `context_` that of worker `id` before its first instruction; the cycle of that.
  std::uint64_t begin(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t id,
                      std::uint32_t vertex_base);
  /// Runs the worker of `context_`, which issues at `first_cycle` and every `workers` cycles, from
  /// `entry` to its end; the cycle at which it has left its slots, or has faulted.
  std::uint64_t run(std::uint32_t entry, std::uint64_t first_cycle);
  /// Takes leave of the worker of `context_`.
  void end(SupervisorContext& supervisor, std::uint64_t issue, std::uint64_t first_cycle,
           std::uint64_t end);
  void run_in_turn(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t entry,
                   std::uint32_t state, std::uint32_t stride);
  /// One step of the worker of `context_`; the next one, or null when it has stopped.
  const WorkerStep* take_turn(const WorkerStep* step);
  /// Executes steps until the worker stops; the slots it took, but for turns of `rpt` bodies.
  template <bool kObserved>
  std::uint64_t execute(const WorkerStep* step);

  void launch(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t id,
              std::uint32_t entry, std::uint32_t vertex_base);
  const WorkerStep* step_at(std::uint32_t pc) {
    const bool known =
        pc == last_pc_ && kind() == last_kind_ && code_version_ == memory_.code_version();
    return known ? last_step_ : find_step(pc);
  }
  [[nodiscard]] StepKind kind() const {
    if (context_.moded) return StepKind::kModed;
    return context_.observer != nullptr ? StepKind::kObserved : StepKind::kOrdinary;
  }
  const WorkerStep* find_step(std::uint32_t pc);
  const WorkerCode* code_at(std::uint32_t pc);
  void keep_earlier(TileFault fault);

  const MachineConfig& machine_;
  TileMemory& memory_;
  CodeStore& code_;
  WorkerContext context_;
  std::unique_ptr<RaceCheck> races_;
  std::vector<WorkerContext::Retained> retained_;     ///< registers, by worker
  std::array<std::array<isa::U64, 2>, 64> random_{};  ///< kept from launch to launch
  std::map<std::pair<std::uint32_t, StepKind>, const WorkerCode*> by_entry_;
  const WorkerCode* current_ = nullptr;
  std::uint32_t last_pc_ = 0;  ///< what `find_step` last found
  StepKind last_kind_ = StepKind::kOrdinary;
  const WorkerStep* last_step_ = nullptr;
  std::uint64_t code_version_ = ~std::uint64_t{0};  ///< of what is kept; at first nothing is
  std::uint64_t instructions_ = 0;
  const std::function<bool()>* poll_ = nullptr;
  bool interrupted_ = false;
  bool in_turn_ = false;
  std::uint64_t busy_cycles_ = 0;
  std::array<std::uint64_t, 8> busy_cycles_of_{};
  std::optional<TileFault> fault_;
  TileLaunches launches_;
};

}  // namespace superstep
