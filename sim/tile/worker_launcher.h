#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/state_archive.h"
#include "sim/tile/engine.h"
#include "sim/tile/float_mode.h"
#include "sim/tile/interpreter.h"
#include "sim/tile/look_ahead.h"
#include "sim/tile/race_finder.h"
#include "sim/tile/supervisor_context.h"
#include "sim/tile/tile.h"
#include "sim/tile/worker_codes.h"
#include "sim/tile/worker_context.h"
#include "sim/tile/worker_meter.h"
#include "sim/tile/worker_runs.h"
#include "sim/tile/worker_view.h"

namespace superstep {

/// Launches a tile's workers and decides how they run. They run ahead, each to its end alone, by an
/// engine, when the supervisor cannot tell before it waits for them; step by step when somebody
/// looks at each. Otherwise they take turns: step by step in the order of cycles, up to where the
/// supervisor is.
class WorkerLauncher {
 public:
  WorkerLauncher(const MachineConfig& machine, TileMemory& memory, CodeStore& code);

  /// Workers ask `interrupted`, which outlives the launcher, every now and then, and stop when it
  /// holds.
  void poll(const std::function<bool()>& interrupted) { meter_.poll(interrupted); }
  /// What runs workers alone; `engine`, which outlives the launcher, does from now on.
  [[nodiscard]] Engine& engine() { return *engine_; }
  void set_engine(Engine& engine) { engine_ = engine_beside_replay_ = &engine; }

  /// `runall` at cycle `issue`.
  void run_batch(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t entry,
                 std::uint32_t state, std::uint32_t stride);
  /// `run` at cycle `issue`, on the first idle worker; false when there is none.
  bool run_single(SupervisorContext& supervisor, std::uint64_t issue, std::uint32_t entry,
                  std::uint32_t state_offset);

  /// Runs those that take turns up to their steps in `cycle`, which come next, or to a fault.
  void advance(SupervisorContext& supervisor, std::uint64_t cycle) {
    if (!running_.empty()) [[unlikely]]
      take_turns_until(supervisor, cycle);
  }
  /// Lets them leave.
  void finish(SupervisorContext& supervisor) { advance(supervisor, WorkerSlots::kNever); }
  /// The first cycle from `cycle` on that no worker owns; those that take turns are there.
  [[nodiscard]] std::uint64_t free_slot(SupervisorContext& supervisor, std::uint64_t cycle) {
    if (running_.empty()) [[likely]]
      return supervisor.slots.free_from(cycle);
    return free_slot_in_turn(supervisor, cycle);
  }
  /// Stops the supervisor, which has come to `cycle`, if a worker has faulted by then or was
  /// interrupted.
  [[nodiscard]] bool stops(SupervisorContext& supervisor, std::uint64_t cycle) const {
    if (cycle < stop_cycle_) [[likely]]
      return false;
    stop(supervisor);
    return true;
  }

  /// Workers made the host compute as they need it; no longer.
  void leave_host() {
    if (host_mode_) host_mode_.reset();
  }
  /// From now on a word that workers share without order is a fault in these launches.
  void check_races(RaceChecks which, RaceShadows& shadows);
  /// The tile waits: others may use the shadow.
  void pause_checks() {
    if (races_ != nullptr) races_->pause();
  }
  /// From now on all workers take turns.
  void take_turns() { in_turn_ = in_turn_beside_replay_ = true; }
  /// `observer`, which outlives the launcher, sees each step from now on; none when null.
  void observe(InstructionObserver* observer) { observer_ = observer; }

  /// From now on the runs of workers are noted while there is room; no longer when nobody has any.
  /// No worker is running.
  void note_runs(SharedRooms rooms) {
    runs_ = rooms.empty() ? nullptr
                          : std::make_unique<WorkerRuns>(machine_.tile.workers, std::move(rooms));
  }
  /// Those that were noted since `clear_launches`.
  [[nodiscard]] std::span<const WorkerRun> runs() const {
    return runs_ == nullptr ? std::span<const WorkerRun>() : runs_->done();
  }

  /// The common weights of the tile.
  [[nodiscard]] Weights& weights() {
    if (weights_ == nullptr) weights_ = std::make_unique<Weights>();
    return *weights_;
  }
  void clear_weights() {
    if (weights_ != nullptr) weights_->clear();
  }

  [[nodiscard]] const std::optional<TileFault>& fault() const { return fault_; }
  [[nodiscard]] InstructionCounts instructions() const;
  /// Cycles from first issue to exit, added up over workers.
  [[nodiscard]] std::uint64_t busy_cycles() const { return busy_cycles_; }
  /// The same of one worker.
  [[nodiscard]] std::uint64_t busy_cycles(std::uint32_t id) const { return busy_cycles_of_.at(id); }
  [[nodiscard]] const TileLaunches& launches() const { return launches_; }
  void clear_launches() {
    if (launches_.count == 0) return;
    launches_.clear();
    if (runs_ != nullptr) runs_->clear();
  }
  /// Behind what a supervisor needs of them in each superstep.
  [[nodiscard]] const std::byte* cold() const {
    return reinterpret_cast<const std::byte*>(&workers_);
  }

  [[nodiscard]] WorkerView worker(std::uint32_t id) const;

  /// Of a tile that waits at a sync: no worker is running.
  template <class Archive>
  void state(Archive& archive);
  /// See Tile.
  void replay();
  void replay_until(std::uint64_t cycle);

 private:
  /// A worker that has been launched and has not left.
  struct Running {
    WorkerContext* worker;
    SupervisorPath* path;  ///< of the supervisor, behind the launch
    std::uint64_t issue;   ///< of the launch
    std::uint64_t first_cycle;
    std::uint32_t entry;
    const WorkerStep* step = nullptr;  ///< the next one; null before the first
  };

  [[nodiscard]] std::vector<WorkerContext>& workers();
  [[nodiscard]] LookAhead& look_ahead() {
    if (!look_ahead_) look_ahead_.emplace(memory_);
    return *look_ahead_;
  }
  /// Workers are about to run.
  void enter_host() {
    if (!host_mode_) host_mode_.emplace();
  }
  /// Some workers are launched at cycle `issue`.
  SupervisorPath& note_launch(const SupervisorContext& supervisor, std::uint64_t issue);
  /// Of a worker's run, where these are noted.
  void note_begin(const SupervisorContext& supervisor, const Running& running);
  void note_pause(const WorkerContext& worker);
  void note_end(const WorkerContext& worker, std::uint64_t left);
  void launch(SupervisorContext& supervisor, std::uint64_t issue, WorkerContext& worker,
              std::uint32_t entry, std::uint32_t vertex_base, SupervisorPath& path);
  /// Makes `worker` ready for its first instruction; the cycle of that.
  std::uint64_t begin(SupervisorContext& supervisor, std::uint64_t issue, WorkerContext& worker,
                      std::uint32_t vertex_base);
  /// Finds its first step.
  void enter(Running& running);
  /// Decides whether its accesses are looked at.
  void check(Running& running);
  /// Takes leave of a worker, which has left its slots, or has faulted, at cycle `left`.
  void end(SupervisorContext& supervisor, const Running& running, std::uint64_t left);

  /// Runs a worker to its end, alone.
  void run_ahead(SupervisorContext& supervisor, Running& running);
  /// Refuses that workers ran ahead from `cycle` on who changed the supervisor's path from there.
  void check_path(const SupervisorPath& path, std::uint64_t cycle);

  /// The next step of a worker; false when it has left.
  bool take_turn(SupervisorContext& supervisor, Running& running);
  /// The place in `running_` of the one that issues next.
  [[nodiscard]] std::size_t next_in_turn() const;
  void take_turns_until(SupervisorContext& supervisor, std::uint64_t cycle);
  /// One step; the next one, or null when the worker has stopped.
  const WorkerStep* run_step(WorkerContext& worker, const WorkerStep* step);
  /// `free_slot` beside workers that take turns; they run ahead if they may from here on.
  [[nodiscard]] std::uint64_t free_slot_in_turn(SupervisorContext& supervisor, std::uint64_t cycle);
  void stop(SupervisorContext& supervisor) const;

  void keep_earlier(TileFault fault);

  std::vector<Running> running_;                    ///< those that take turns
  std::uint64_t stop_cycle_ = WorkerSlots::kNever;  ///< of `fault_`; 0 when interrupted
  std::optional<HostFloatMode> host_mode_;          ///< since workers ran in this `Tile::run`
  TileLaunches launches_;
  // Nothing before a launch or `state`: many tiles only wait.
  std::vector<WorkerContext> workers_;
  std::unique_ptr<Weights> weights_;
  const MachineConfig& machine_;
  TileMemory& memory_;
  WorkerCodes codes_;
  WorkerMeter meter_;
  Interpreter interpreter_;
  Engine* engine_ = &interpreter_;
  Engine* engine_beside_replay_ = &interpreter_;
  std::uint64_t steps_ = 0;    ///< of workers that take turns
  std::size_t last_turn_ = 0;  ///< the place in `running_` of the last of them
  std::uint64_t last_issued_ = 0;
  std::optional<LookAhead> look_ahead_;  ///< none before a launch or `state`
  RaceChecks which_races_ = RaceChecks::kNever;
  std::unique_ptr<RaceFinder> races_, races_beside_replay_;
  using CheckedLaunch = std::pair<SupervisorPath*, const WorkerCode*>;
  std::set<CheckedLaunch> checked_;
  std::vector<CheckedLaunch> first_times_;  ///< until these and those beside them have left
  InstructionObserver* observer_ = nullptr;
  std::unique_ptr<WorkerRuns> runs_;  ///< where somebody looks at them
  bool interrupted_ = false;
  bool in_turn_ = false, in_turn_beside_replay_ = false;
  std::uint64_t busy_cycles_ = 0;
  std::array<std::uint64_t, kMostWorkers> busy_cycles_of_{};
  std::optional<TileFault> fault_;  ///< the earliest so far
};

template <class Archive>
void WorkerLauncher::state(Archive& archive) {
  auto& [running, stop_cycle, host_mode, launches, contexts, common_weights, machine, memory, codes,
         meter, interpreter, engine, engine_otherwise, steps, last_turn, last_issued, ahead,
         which_races, races, races_beside_replay, checked, first_times, observer, noted_runs,
         is_interrupted, in_turn, in_turn_otherwise, busy, busy_of, first_fault] = *this;
  archive(weights());
  for (WorkerContext& worker : workers()) archive(worker);
  archive(codes, meter, steps, last_turn, last_issued, busy, busy_of);

  // What is known of launches bears on which count as checked.
  using Launch = std::pair<std::uint32_t, const WorkerCode*>;
  std::vector<Launch> launched, first;
  for (const auto& [path, code] : checked) launched.emplace_back(path->pc, code);
  std::ranges::sort(launched, {}, [](const Launch& launch) {
    return std::tuple(launch.first, launch.second->entry_pc(), launch.second->kind());
  });
  for (const auto& [path, code] : first_times) first.emplace_back(path->pc, code);
  // What a path launched last bears on what code is the current one next.
  using LastLaunch = std::pair<std::pair<std::uint32_t, std::uint32_t>, const WorkerCode*>;
  std::vector<LastLaunch> last_launches;
  for (const SupervisorPath& path : look_ahead().paths()) {
    if (path.launched == nullptr || path.code_version != memory.code_version()) continue;
    last_launches.push_back({{path.pc, path.entry}, path.launched});
  }
  archive(launched, first, last_launches);

  if constexpr (Archive::kReads) {
    checked.clear();
    for (const auto& [pc, code] : launched) checked.emplace(&look_ahead().from(pc), code);
    first_times.clear();
    for (const auto& [pc, code] : first) first_times.emplace_back(&look_ahead().from(pc), code);
    look_ahead().forget_checked();
    for (const auto& [place, code] : last_launches) {
      SupervisorPath& path = look_ahead().from(place.first);
      path.launched = code;
      path.entry = place.second;
      path.first_step = code->at(place.second);
    }
    running.clear();
    first_fault.reset();
    stop_cycle = WorkerSlots::kNever;
    is_interrupted = false;
    if (races == nullptr) races = std::move(races_beside_replay);
    in_turn = in_turn_otherwise;
    engine = engine_otherwise;
  }
}

}  // namespace superstep
