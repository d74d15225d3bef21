#include "sim/chip/superstep_accounts.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "isa/sync_zones.h"
#include "sim/chip/chip.h"

namespace superstep {
namespace {

/// Fewer tiles are not worth another thread.
constexpr std::size_t kPhasesAThread = 64;

std::vector<std::size_t> witnesses_of(const ProgramImage& image, const TileArray& tiles) {
  std::vector<std::size_t> witnesses;
  if (std::ranges::none_of(image.info.steps, &StepInfo::is_control)) return witnesses;
  std::vector<StepMark> marks = image.marks;
  std::ranges::stable_sort(marks, {}, &StepMark::tile);
  std::vector<bool> is_seen(image.info.steps.size());
  for (const StepMark& mark : marks) {
    if (mark.step >= is_seen.size() || is_seen[mark.step]) continue;
    is_seen[mark.step] = true;
    const std::optional<std::size_t> entry = tiles.entry_of(mark.tile);
    if (entry && (witnesses.empty() || witnesses.back() != *entry)) witnesses.push_back(*entry);
  }
  return witnesses;
}

}  // namespace

SuperstepAccounts::SuperstepAccounts(Chip& chip, const ProgramImage& image, TaskArena& arena)
    : chip_(chip),
      image_(image),
      arena_(arena),
      steps_(image),
      witnesses_(witnesses_of(image, chip.tiles())),
      phases_(image.entries.size()),
      instructions_before_(image.entries.size()),
      busy_before_(image.entries.size()),
      sync_pc_(image.entries.size()),
      sync_calls_(image.entries.size()) {}

void SuperstepAccounts::Sums::add(const Sums& other) {
  instructions += other.instructions;
  h_bytes = std::max(h_bytes, other.h_bytes);
  messages += other.messages;
  word_rows += other.word_rows;
  word_columns += other.word_columns;
}

void SuperstepAccounts::note_tile(std::size_t entry, Cycles opening, bool is_visit, Sums& sums) {
  const TileWork& work = chip_.tiles().work(entry);
  sync_pc_[entry] = chip_.tiles().stop(entry).pc;
  sync_calls_[entry] = work.calls_step;
  TilePhase& phase = phases_[entry];
  const bool has_launched = work.launches.count > 0;
  // Each part is written once: a host clears all of it first only slowly.
  phase.instructions =
      has_launched ? work.instructions - instructions_before_[entry] : InstructionCounts{};
  phase.worker_busy = has_launched ? work.busy_cycles - busy_before_[entry] : 0;
  if (has_launched) {
    instructions_before_[entry] = work.instructions;
    busy_before_[entry] = work.busy_cycles;
    sums.instructions += phase.instructions;
  }
  if (is_visit) {
    phase = {};
    return;
  }
  const std::uint64_t arrival = chip_.tiles().arrival(entry).value();
  const std::uint64_t ports_done =
      std::clamp(chip_.fabric().ports_done(entry), begin_.value(), arrival);
  phase.exchange = ports_done - begin_.value();
  phase.compute = arrival - ports_done;
  phase.sync = opening.value() - arrival;
  const PortTraffic& traffic = chip_.fabric().traffic(entry);
  phase.exchange_idle = phase.exchange - std::min(phase.exchange, traffic.busy_cycles);
  phase.sent_bytes = traffic.sent_bytes;
  phase.received_bytes = traffic.received_bytes;
  phase.word_rows = traffic.word_rows;
  phase.word_columns = traffic.word_columns;
  sums.h_bytes = std::max({sums.h_bytes, traffic.sent_bytes, traffic.received_bytes});
  sums.messages += traffic.messages;
  sums.word_rows += traffic.word_rows;
  sums.word_columns += traffic.word_columns;
}

SuperstepAccounts::Sums SuperstepAccounts::note_tiles(Cycles opening, bool is_visit) {
  Sums all;
  std::mutex adding;
  arena_.each_of_parts(phases_.size(), kPhasesAThread, [&](std::size_t first, std::size_t end) {
    Sums sums;
    for (std::size_t i = first; i != end; ++i) note_tile(i, opening, is_visit, sums);
    const std::scoped_lock lock(adding);
    all.add(sums);
  });
  return all;
}

const SuperstepRecord& SuperstepAccounts::end(const WaitingTile& last, Cycles opening) {
  const std::optional<std::size_t> critical = chip_.tiles().entry_of(last.tile);
  SUPERSTEP_CHECK(critical.has_value(), "a tile without a program arrives at a barrier");
  const bool is_visit = chip_.is_visiting();
  record_ = {};
  name_steps(*critical);
  const Sums sums = note_tiles(opening, is_visit);
  record_.number = count_;
  record_.begin = begin_;
  record_.end = opening;
  record_.zone = last.zone;
  record_.critical = last.tile;
  if (is_visit) {
    record_.host = opening - begin_;
    record_.visit_end = opening - chip_.host().data_end();
    record_.host_bytes = chip_.host().visit_bytes();
    record_.transfers = chip_.host().transfers();
  } else {
    record_.exchange = Cycles(phases_[*critical].exchange);
    record_.compute = Cycles(phases_[*critical].compute);
    record_.sync = opening - last.cycle;
    if (last.zone == kZoneExternal) {
      record_.visit_begin = record_.sync;
      record_.visit_callbacks = std::min(record_.sync, chip_.host().callback_wait());
    }
    record_.exchange_bytes = chip_.fabric().bytes();
    record_.h_bytes = sums.h_bytes;
    record_.messages = sums.messages;
    record_.word_rows = sums.word_rows;
    record_.word_columns = sums.word_columns;
  }
  record_.call = chip_.host().call();
  record_.worker_instructions = sums.instructions;
  record_.tiles = &phases_;
  if (!is_visit) {
    share_compute(*critical);
    note_launched_elsewhere();
    note_skipped();
  }
  if (!image_.loops.empty()) sync_trips_ = chip_.tiles().tile(0).loops().counts();
  behind_a_barrier_ = true;
  if (opening > begin_) ++count_;
  begin_ = opening;
  return record_;
}

/// The sync that began the superstep names its exchange; the first launch, if it is marked, the
/// rest.
void SuperstepAccounts::name_steps(std::size_t critical) {
  const TileArray& tiles = chip_.tiles();
  record_.step = steps_.none();
  record_.exchange_step = steps_.none();
  if (steps_.is_empty()) return;
  for (std::size_t i = 0; i < tiles.size() && behind_a_barrier_; ++i) {
    record_.exchange_step = steps_.find(tiles.id(i), sync_pc_[i], sync_calls_[i]);
    if (record_.exchange_step != steps_.none()) break;
  }
  const auto launch_of = [&](std::size_t i) {
    const TileLaunches& launches = tiles.work(i).launches;
    return launches.count == 0
               ? steps_.none()
               : steps_.find(tiles.id(i), launches.first_pc, launches.first_calls_step);
  };
  record_.step = launch_of(critical);
  for (std::size_t i = 0; i < tiles.size() && record_.step == steps_.none(); ++i) {
    record_.step = launch_of(i);
  }
  if (record_.step == steps_.none()) record_.step = record_.exchange_step;
  if (record_.exchange_step == steps_.none()) record_.exchange_step = record_.step;
  const auto loop = loop_around(image_.info.steps, record_.exchange_step);
  if (!loop) return;
  const auto trips = std::ranges::find(sync_trips_, *loop, &LoopTrips::Counts::value_type::first);
  if (trips != sync_trips_.end()) record_.trip = trips->second;
}

/// Shares the critical tile's compute cycles among its steps: each ends where its workers have left
/// and a launch of another step is next. What comes before the first belongs to it.
void SuperstepAccounts::share_compute(std::size_t critical) {
  const TileArray& tiles = chip_.tiles();
  const TileLaunches& launches = tiles.work(critical).launches;
  record_.shares.push_back({record_.step});
  std::uint64_t shared = 0;
  std::size_t share = 0;
  for (std::size_t l = 0; l < launches.places.size(); ++l) {
    const TileLaunch& launch = launches.places[l];
    std::uint64_t cycles = launch.cycles;
    if (l == launches.last_place) cycles += tiles.arrival(critical).value() - launches.last_cycle;
    const std::uint32_t step = steps_.find(tiles.id(critical), launch.pc, launch.calls_step);
    if (step != steps_.none()) {
      const auto at = std::ranges::find(record_.shares, step, &ComputeShare::step);
      share = static_cast<std::size_t>(at - record_.shares.begin());
      if (at == record_.shares.end()) record_.shares.push_back({step});
      record_.shares[share].runs = std::max(record_.shares[share].runs, launch.runs);
    }
    record_.shares[share].cycles += cycles;
    shared += cycles;
  }
  // Launches that the exchange goes on beside begin before what counts as computing.
  const std::uint64_t computed = record_.compute.value();
  if (shared < computed) record_.shares.front().cycles += computed - shared;
  for (ComputeShare& of_step : record_.shares) {
    const std::uint64_t before = std::min(of_step.cycles, shared - std::min(shared, computed));
    of_step.cycles -= before;
    shared -= before;
  }
}

bool SuperstepAccounts::is_launched(std::uint32_t step) const {
  const TileArray& tiles = chip_.tiles();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    for (const TileLaunch& launch : tiles.work(i).launches.places) {
      if (steps_.find(tiles.id(i), launch.pc, launch.calls_step) == step) return true;
    }
  }
  return false;
}

bool SuperstepAccounts::are_together(std::uint32_t a, std::uint32_t b) const {
  const std::vector<StepInfo>& steps = image_.info.steps;
  if (a >= steps.size() || b >= steps.size()) return a == b;
  return a == b || (steps[a].superstep && steps[a].superstep == steps[b].superstep &&
                    steps[a].parent == steps[b].parent);
}

/// A step that runs once, in a group of which the record names another, counts without a share.
void SuperstepAccounts::note_launched_elsewhere() {
  const TileArray& tiles = chip_.tiles();
  for (const std::size_t witness : witnesses_) {
    for (const TileLaunch& launch : tiles.work(witness).launches.places) {
      const std::uint32_t step = steps_.find(tiles.id(witness), launch.pc, launch.calls_step);
      if (step == steps_.none()) continue;
      const auto share = std::ranges::find(record_.shares, step, &ComputeShare::step);
      if (share != record_.shares.end()) {
        share->runs = std::max(share->runs, launch.runs);
        continue;
      }
      const bool is_named = are_together(step, record_.step) ||
                            are_together(step, record_.exchange_step) ||
                            std::ranges::any_of(record_.shares, [&](const ComputeShare& other) {
                              return are_together(step, other.step);
                            });
      if (is_named && launch.runs == 1) continue;
      record_.shares.push_back({.step = step, .runs = launch.runs});
    }
  }
}

/// A loop whose trips follow from data decides between two barriers whether its body runs: of what
/// would follow in this superstep, notes what did not.
void SuperstepAccounts::note_skipped() {
  const std::vector<StepInfo>& steps = image_.info.steps;
  if (record_.exchange_step >= steps.size()) return;
  const StepInfo& moved = steps[record_.exchange_step];
  if (!moved.superstep || !moved.parent) return;
  const StepInfo& parent = steps[*moved.parent];
  if (parent.kind != StepInfo::Kind::kLoop || parent.trips) return;
  for (std::uint32_t s = record_.exchange_step + 1; s < steps.size(); ++s) {
    if (steps[s].is_control()) continue;
    if (steps[s].superstep != moved.superstep) break;
    if (steps[s].parent != moved.parent || steps[s].kind != StepInfo::Kind::kCompute) continue;
    if (s != record_.step && !is_launched(s)) record_.shares.push_back({.step = s});
  }
}

}  // namespace superstep
