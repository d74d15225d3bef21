#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/state_archive.h"
#include "sim/tile/code_store.h"
#include "sim/tile/float_mode.h"
#include "sim/tile/look_ahead.h"
#include "sim/tile/race_check.h"
#include "sim/tile/supervisor_context.h"
#include "sim/tile/tile.h"
#include "sim/tile/worker_context.h"
#include "sim/tile/worker_view.h"

namespace superstep {

/// Runs a tile's workers. They run ahead, each to its end alone, as fast as the host can, when the
/// supervisor cannot tell before it waits for them; step by step when somebody looks at each.
/// Otherwise they take turns: step by step in the order of cycles, up to where the supervisor is.
class WorkerLauncher {
 public:
  WorkerLauncher(const MachineConfig& machine, TileMemory& memory, CodeStore& code);

  /// Workers ask `interrupted`, which outlives the launcher, every now and then, and stop when it
  /// holds.
  void poll(const std::function<bool()>& interrupted) { poll_ = &interrupted; }

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
    if (launches_.count != 0) launches_.clear();
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
  void launch(SupervisorContext& supervisor, std::uint64_t issue, WorkerContext& worker,
              std::uint32_t entry, std::uint32_t vertex_base, SupervisorPath& path);
  /// Makes `worker` ready for its first instruction; the cycle of that.
  std::uint64_t begin(SupervisorContext& supervisor, std::uint64_t issue, WorkerContext& worker,
                      std::uint32_t vertex_base);
  /// Finds its first step.
  void enter(Running& running);
  /// Decides whether its accesses are looked at.
  void check(const Running& running);
  /// Takes leave of a worker, which has left its slots, or has faulted, at cycle `left`.
  void end(SupervisorContext& supervisor, const Running& running, std::uint64_t left);

  /// Runs a worker to its end, alone.
  void run_ahead(SupervisorContext& supervisor, Running& running);
  /// Refuses that workers ran ahead from `cycle` on who changed the supervisor's path from there.
  void check_path(const SupervisorPath& path, std::uint64_t cycle);
  /// The same of steps in lines; the slots that it took. In front of code that reads the cycle
  /// counter it stops at a jump there.
  std::uint64_t run(WorkerContext& worker, const WorkerStep* step);
  /// The same but for turns of `rpt` bodies.
  std::uint64_t run_lines(WorkerContext& worker, const WorkerStep* step);

  /// The next step of a worker; false when it has left.
  bool take_turn(SupervisorContext& supervisor, Running& running);
  /// The place in `running_` of the one that issues next.
  [[nodiscard]] std::size_t next_in_turn() const;
  void take_turns_until(SupervisorContext& supervisor, std::uint64_t cycle);
  /// One step; the next one, or null when the worker has stopped.
  const WorkerStep* run_step(WorkerContext& worker, const WorkerStep* step);
  /// Counts the instructions of lines that ran.
  void count(const StepCost& cost);
  /// Whether a worker, before `step` and after so many slots, runs no longer; it is stopped then.
  bool gives_up(WorkerContext& worker, const WorkerStep* step, std::uint64_t slots);
  /// `free_slot` beside workers that take turns; they run ahead if they may from here on.
  [[nodiscard]] std::uint64_t free_slot_in_turn(SupervisorContext& supervisor, std::uint64_t cycle);
  void stop(SupervisorContext& supervisor) const;

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

  /// No instruction is there.
  static constexpr std::uint32_t kNoPc = 1;

  std::vector<Running> running_;                    ///< those that take turns
  std::uint64_t stop_cycle_ = WorkerSlots::kNever;  ///< of `fault_`; 0 when interrupted
  std::optional<HostFloatMode> host_mode_;          ///< since workers ran in this `Tile::run`
  TileLaunches launches_;
  // Nothing before a launch or `state`: many tiles only wait.
  std::vector<WorkerContext> workers_;
  std::unique_ptr<Weights> weights_;
  const MachineConfig& machine_;
  TileMemory& memory_;
  CodeStore& code_;
  std::uint64_t steps_ = 0;    ///< of workers that take turns
  std::size_t last_turn_ = 0;  ///< the place in `running_` of the last of them
  std::uint64_t last_issued_ = 0;
  std::optional<LookAhead> look_ahead_;  ///< none before a launch or `state`
  RaceChecks which_races_ = RaceChecks::kNever;
  std::unique_ptr<RaceCheck> races_, races_beside_replay_;
  using CheckedLaunch = std::pair<SupervisorPath*, const WorkerCode*>;
  std::set<CheckedLaunch> checked_;
  std::vector<CheckedLaunch> first_times_;  ///< until these and those beside them have left
  InstructionObserver* observer_ = nullptr;
  std::map<std::pair<std::uint32_t, StepKind>, const WorkerCode*> by_entry_;
  const WorkerCode* current_ = nullptr;
  std::uint32_t last_pc_ = 0;  ///< what `find_step` last found
  StepKind last_kind_ = StepKind::kOrdinary;
  const WorkerStep* last_step_ = nullptr;
  std::uint64_t code_version_ = ~std::uint64_t{0};  ///< of what is kept; at first nothing is
  InstructionCounts instructions_;                  ///< of lines, but for those in `latest_`
  StepCost latest_;
  const std::function<bool()>* poll_ = nullptr;
  bool interrupted_ = false;
  bool in_turn_ = false, in_turn_beside_replay_ = false;
  std::uint64_t busy_cycles_ = 0;
  std::array<std::uint64_t, kMostWorkers> busy_cycles_of_{};
  std::optional<TileFault> fault_;  ///< the earliest so far
};

template <class Archive>
void WorkerLauncher::state(Archive& archive) {
  auto& [running, stop_cycle, host_mode, launches, contexts, common_weights, machine, memory,
         code_store, steps, last_turn, last_issued, ahead, which_races, races, races_beside_replay,
         checked, first_times, observer, by_entry, current, last_pc, last_kind, last_step,
         code_version, instructions, latest, poll, is_interrupted, in_turn, in_turn_otherwise, busy,
         busy_of, first_fault] = *this;
  archive(weights());
  for (WorkerContext& worker : workers()) archive(worker);
  archive(steps, last_turn, last_issued, last_kind, instructions, latest, busy, busy_of);

  // What is known of code bears on which words count as decoded and which launches as checked.
  using Known = std::pair<std::pair<std::uint32_t, StepKind>, const WorkerCode*>;
  using Launch = std::pair<std::uint32_t, const WorkerCode*>;
  std::vector<Known> known(by_entry.begin(), by_entry.end());
  std::vector<Launch> launched, first;
  for (const auto& [path, code] : checked) launched.emplace_back(path->pc, code);
  std::ranges::sort(launched, {}, [](const Launch& launch) {
    return std::tuple(launch.first, launch.second->entry_pc(), launch.second->kind());
  });
  for (const auto& [path, code] : first_times) first.emplace_back(path->pc, code);
  // What a path launched last bears on what is `current` next.
  using LastLaunch = std::pair<std::pair<std::uint32_t, std::uint32_t>, const WorkerCode*>;
  std::vector<LastLaunch> last_launches;
  for (const SupervisorPath& path : look_ahead().paths()) {
    if (path.launched == nullptr || path.code_version != memory.code_version()) continue;
    last_launches.push_back({{path.pc, path.entry}, path.launched});
  }
  bool has_current = current != nullptr, is_new = code_version != memory.code_version();
  archive(known, launched, first, last_launches, has_current, is_new);
  if (has_current) archive(current);

  if constexpr (Archive::kReads) {
    if (!has_current) current = nullptr;
    by_entry = {known.begin(), known.end()};
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
    code_version = is_new ? ~std::uint64_t{0} : memory.code_version();
    last_pc = kNoPc;
    running.clear();
    first_fault.reset();
    stop_cycle = WorkerSlots::kNever;
    is_interrupted = false;
    if (races == nullptr) races = std::move(races_beside_replay);
    in_turn = in_turn_otherwise;
  }
}

}  // namespace superstep
