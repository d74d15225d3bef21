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

/// Runs a tile's workers: each to its end alone, as fast as the host can; or step by step, when
/// somebody looks at each or asks that they issue in turn.
class WorkerLauncher {
 public:
  WorkerLauncher(const MachineConfig& machine, TileMemory& memory, const Weights& weights,
                 CodeStore& code);

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
  void observe(InstructionObserver* observer) { observer_ = observer; }

  [[nodiscard]] const std::optional<TileFault>& fault() const { return fault_; }
  [[nodiscard]] const InstructionCounts& instructions() const { return instructions_; }
  /// Cycles from first issue to exit, added up over workers.
  [[nodiscard]] std::uint64_t busy_cycles() const { return busy_cycles_; }
  /// The same of one worker.
  [[nodiscard]] std::uint64_t busy_cycles(std::uint32_t id) const {
    return busy_cycles_of_[id % busy_cycles_of_.size()];
  }
  [[nodiscard]] const TileLaunches& launches() const { return launches_; }
  void clear_launches() { launches_.clear(); }

 private:
  /// A worker that runs step by step.
  struct Running {
    WorkerContext* worker;
    const WorkerStep* step;
    std::uint64_t first_cycle;
  };

  void launch(SupervisorContext& supervisor, std::uint64_t issue, WorkerContext& worker,
              std::uint32_t entry, std::uint32_t vertex_base);
  /// Makes `worker` ready for its first instruction; the cycle of that.
  std::uint64_t begin(SupervisorContext& supervisor, std::uint64_t issue, WorkerContext& worker,
                      std::uint32_t vertex_base);
  /// Takes leave of a worker, which has left its slots, or has faulted, at cycle `end`.
  void end(SupervisorContext& supervisor, std::uint64_t issue, const WorkerContext& worker,
           std::uint64_t first_cycle, std::uint64_t end);

  /// Runs a worker to its end; the slots that it took.
  std::uint64_t run(WorkerContext& worker, const WorkerStep* step);
  /// The same but for turns of `rpt` bodies.
  std::uint64_t run_lines(WorkerContext& worker, const WorkerStep* step);

  /// Runs workers, which issue in turn, to their ends.
  void run_by_steps(SupervisorContext& supervisor, std::uint64_t issue,
                    std::vector<Running> running);
  /// One step; the next one, or null when the worker has stopped.
  const WorkerStep* run_step(WorkerContext& worker, const WorkerStep* step);
  /// Whether a worker, before `step` and after so many slots, runs no longer; it is stopped then.
  bool gives_up(WorkerContext& worker, const WorkerStep* step, std::uint64_t slots);

  const WorkerStep* step_at(WorkerContext& worker, std::uint32_t pc) {
    const bool known =
        pc == last_pc_ && kind(worker) == last_kind_ && code_version_ == memory_.code_version();
    return known ? last_step_ : find_step(worker, pc);
  }
  static StepKind kind(const WorkerContext& worker) {
    if (worker.moded) return StepKind::kModed;
    return worker.observer != nullptr ? StepKind::kObserved : StepKind::kOrdinary;
  }
  const WorkerStep* find_step(WorkerContext& worker, std::uint32_t pc);
  const WorkerCode* code_at(const WorkerContext& worker, std::uint32_t pc);
  void keep_earlier(TileFault fault);

  const MachineConfig& machine_;
  TileMemory& memory_;
  CodeStore& code_;
  std::vector<WorkerContext> workers_;
  std::unique_ptr<RaceCheck> races_;
  InstructionObserver* observer_ = nullptr;
  std::map<std::pair<std::uint32_t, StepKind>, const WorkerCode*> by_entry_;
  const WorkerCode* current_ = nullptr;
  std::uint32_t last_pc_ = 0;  ///< what `find_step` last found
  StepKind last_kind_ = StepKind::kOrdinary;
  const WorkerStep* last_step_ = nullptr;
  std::uint64_t code_version_ = ~std::uint64_t{0};  ///< of what is kept; at first nothing is
  InstructionCounts instructions_;
  const std::function<bool()>* poll_ = nullptr;
  bool interrupted_ = false;
  bool in_turn_ = false;
  std::uint64_t busy_cycles_ = 0;
  std::array<std::uint64_t, 8> busy_cycles_of_{};
  std::optional<TileFault> fault_;
  TileLaunches launches_;
};

}  // namespace superstep
