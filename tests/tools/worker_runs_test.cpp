// What workers do, as observers are told it, against what else the machine says of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/files.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tools/tensors.h"

namespace superstep {

bool operator==(const WorkerRun& a, const WorkerRun& b) {
  const auto all = [](const WorkerRun& r) {
    return std::tuple(r.worker, r.entry, r.launch_pc, r.calls_step, r.launch, r.begin, r.end);
  };
  return all(a) == all(b) && a.instructions == b.instructions;
}

namespace {

struct Superstep {
  std::map<TileId, std::vector<WorkerRun>> runs;
  std::map<std::pair<TileId, std::uint32_t>, std::vector<IssuedInstruction>>
      issued;  ///< by tile and worker
  SuperstepRecord record;
  std::vector<TilePhase> tiles;  ///< by entry
  bool has_too_many_runs = false;
};

/// Keeps all that workers do.
class Keeper : public Observer {
 public:
  explicit Keeper(Watch watch) : watch_(std::move(watch)) {}

  [[nodiscard]] Watch watch() const override { return watch_; }
  void on_worker_run(TileId tile, const WorkerRun& run) override { now_.runs[tile].push_back(run); }
  void on_instruction(TileId tile, const IssuedInstruction& instruction) override {
    if (instruction.context == IssuedInstruction::kSupervisor) return;
    now_.issued[{tile, instruction.context}].push_back(instruction);
  }
  void on_too_many_worker_runs() override { now_.has_too_many_runs = true; }
  void on_superstep(const SuperstepRecord& record) override {
    now_.record = record;
    now_.tiles = *record.tiles;
    supersteps.push_back(std::exchange(now_, {}));
  }

  std::vector<Superstep> supersteps;

 private:
  Watch watch_;
  Superstep now_;
};

ProgramImage compiled(const std::string& path, const std::string& machine) {
  const auto module = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / path;
  return compile(import_stablehlo(read_text_file(module), path), load_machine(machine));
}

/// Runs the image, which all of them see.
void run_with(const ProgramImage& image, const std::vector<Keeper*>& keepers,
              const RunOptions& options = {}) {
  const auto arguments = load_arguments(image, {"random:1"}, TensorFile{});
  Simulation simulation = begin_run(image, arguments, options);
  for (Keeper* const keeper : keepers) simulation.observe(*keeper);
  const RunResult result = finish_run(std::move(simulation), arguments, options);
  EXPECT_FALSE(result.trap) << result.trap->text();
}

/// What is seen on all tiles.
std::vector<Superstep> observed(const ProgramImage& image, Watch watch,
                                const RunOptions& options = {}) {
  for (const TileEntry& entry : image.entries) watch.tiles.push_back(entry.tile);
  Keeper keeper(std::move(watch));
  run_with(image, {&keeper}, options);
  return std::move(keeper.supersteps);
}

constexpr std::pair<const char*, const char*> kPrograms[] = {
    {"models/linear_regression/train_step.mlir", "tiny4"},
    {"models/digits_mlp/train_step.mlir", "small64"},
    {"models/mandelbrot/mandelbrot.mlir", "tiny4"}};

TEST(WorkerRuns, AddUpToWhatTheirTileDidInTheSuperstep) {
  for (const auto& [path, machine] : kPrograms) {
    SCOPED_TRACE(path);
    const ProgramImage image = compiled(path, machine);
    std::uint64_t runs = 0;
    for (const Superstep& superstep :
         observed(image, {.instructions = false, .worker_runs = true})) {
      for (std::size_t i = 0; i < image.entries.size(); ++i) {
        const auto found = superstep.runs.find(image.entries[i].tile);
        const std::vector<WorkerRun> of_tile =
            found == superstep.runs.end() ? std::vector<WorkerRun>() : found->second;
        const TilePhase& phase = superstep.tiles[i];
        std::uint64_t busy = 0, last = 0;
        InstructionCounts instructions;
        std::map<std::uint32_t, std::uint64_t> free;  // by worker
        for (const WorkerRun& run : of_tile) {
          busy += run.end - run.begin;
          last = std::max(last, run.end);
          instructions += run.instructions;
          EXPECT_LT(run.launch, run.begin);
          EXPECT_GE(run.begin, free[run.worker]) << "a worker runs one vertex at a time";
          free[run.worker] = run.end;
        }
        runs += of_tile.size();
        EXPECT_EQ(busy, phase.worker_busy);
        EXPECT_EQ(instructions, phase.instructions);
        EXPECT_LE(last, (superstep.record.begin.value() + phase.exchange + phase.compute));
        // Nothing but what the supervisor issues behind its workers follows the last one.
        if (!of_tile.empty()) {
          EXPECT_LT(superstep.record.begin.value() + phase.exchange + phase.compute - last, 100U);
        }
      }
    }
    EXPECT_GT(runs, 50U);
  }
}

TEST(WorkerRuns, AreTheInstructionsThatWorkersIssue) {
  for (const auto& [path, machine] : kPrograms) {
    SCOPED_TRACE(path);
    const ProgramImage image = compiled(path, machine);
    for (Superstep& superstep : observed(image, {.worker_runs = true})) {
      for (const auto& [tile, runs] : superstep.runs) {
        for (const WorkerRun& run : runs) {
          auto& issued = superstep.issued[{tile, run.worker}];
          const auto end = std::ranges::find_if(
              issued, [&](const IssuedInstruction& i) { return i.cycle >= run.end; });
          ASSERT_NE(issued.begin(), end);
          EXPECT_EQ(issued.front().cycle, run.begin);
          EXPECT_EQ(issued.front().pc, run.entry);
          EXPECT_EQ(std::prev(end)->cycle + std::prev(end)->cycles, run.end);
          std::uint64_t count = 0;
          std::for_each(issued.begin(), end,
                        [&](const IssuedInstruction& i) { count += i.instructions; });
          EXPECT_EQ(count, run.instructions.all);
          issued.erase(issued.begin(), end);
        }
      }
      for (const auto& [worker, left] : superstep.issued) EXPECT_TRUE(left.empty());
    }
  }
}

/// What is seen of a run, whatever runs the workers.
std::vector<std::map<TileId, std::vector<WorkerRun>>> runs_of(
    const std::vector<Superstep>& supersteps) {
  std::vector<std::map<TileId, std::vector<WorkerRun>>> runs;
  for (const Superstep& superstep : supersteps) runs.push_back(superstep.runs);
  return runs;
}

TEST(WorkerRuns, AreTheSameHoweverWorkersRunOnTheHost) {
  for (const auto& [path, machine] : kPrograms) {
    SCOPED_TRACE(path);
    const ProgramImage image = compiled(path, machine);
    const Watch runs{.instructions = false, .worker_runs = true};
    RunOptions two, in_turn;
    two.threads = 2;
    in_turn.take_turns = true;
    const auto one = runs_of(observed(image, runs));
    EXPECT_TRUE(runs_of(observed(image, runs, two)) == one);
    EXPECT_TRUE(runs_of(observed(image, runs, in_turn)) == one);
    EXPECT_TRUE(runs_of(observed(image, {.worker_runs = true})) == one);
  }
}

TEST(WorkerRuns, AreSeenInTheirWindowOnly) {
  const ProgramImage image = compiled(kPrograms[0].first, kPrograms[0].second);
  const auto all = observed(image, {.instructions = false, .worker_runs = true});
  const auto some = observed(
      image,
      {.first_superstep = 3, .last_superstep = 4, .instructions = false, .worker_runs = true});
  ASSERT_EQ(all.size(), some.size());
  for (std::size_t s = 0; s < all.size(); ++s) {
    EXPECT_TRUE(some[s].runs == (s == 3 || s == 4 ? all[s].runs : decltype(all[s].runs)())) << s;
  }
}

TEST(WorkerRuns, AreNotSeenOfASuperstepThatHasMoreThanTheirWatcherWants) {
  const ProgramImage image = compiled(kPrograms[0].first, kPrograms[0].second);
  const auto count = [](const Superstep& superstep) {
    std::size_t runs = 0;
    for (const auto& [tile, of_tile] : superstep.runs) runs += of_tile.size();
    return runs;
  };
  const auto all = observed(image, {.instructions = false, .worker_runs = true});
  std::size_t most = 0;
  for (const Superstep& superstep : all) most = std::max(most, count(superstep));
  for (const std::uint32_t threads : {1U, 2U}) {
    RunOptions options;
    options.threads = threads;
    const auto some = observed(
        image, {.instructions = false, .worker_runs = true, .most_worker_runs = most - 1}, options);
    ASSERT_EQ(some.size(), all.size());
    for (std::size_t s = 0; s < all.size(); ++s) {
      const bool is_too_many = count(all[s]) == most;
      EXPECT_EQ(some[s].has_too_many_runs, is_too_many) << s;
      EXPECT_TRUE(some[s].runs == (is_too_many ? decltype(all[s].runs)() : all[s].runs)) << s;
    }
  }
}

TEST(WorkerRuns, AreCountedOnTheTilesOfTheirWatcher) {
  const ProgramImage image = compiled(kPrograms[0].first, kPrograms[0].second);
  ASSERT_GT(image.entries.size(), 1U);
  const TileId first = image.entries[0].tile, second = image.entries[1].tile;
  Watch watch{.tiles = {first}, .instructions = false, .worker_runs = true};
  Keeper alone(watch);
  run_with(image, {&alone});
  std::size_t most = 0;
  for (const Superstep& superstep : alone.supersteps) {
    for (const auto& [tile, runs] : superstep.runs) most = std::max(most, runs.size());
  }
  ASSERT_GT(most, 1U);
  watch.most_worker_runs = most;
  Keeper has_room(watch);
  watch.most_worker_runs = most - 1;
  Keeper has_less(watch);
  Keeper both({.tiles = {first, second}, .instructions = false, .worker_runs = true});
  run_with(image, {&has_less, &both, &has_room});
  ASSERT_EQ(has_room.supersteps.size(), alone.supersteps.size());
  for (std::size_t s = 0; s < alone.supersteps.size(); ++s) {
    const auto& runs = alone.supersteps[s].runs;
    EXPECT_TRUE(has_room.supersteps[s].runs == runs) << s;
    EXPECT_FALSE(has_room.supersteps[s].has_too_many_runs) << s;
    EXPECT_FALSE(both.supersteps[s].has_too_many_runs) << s;
    const bool is_too_many = !runs.empty() && runs.at(first).size() == most;
    EXPECT_EQ(has_less.supersteps[s].has_too_many_runs, is_too_many) << s;
  }
}

TEST(Codelets, AreWhereWorkersBegin) {
  const ProgramImage image = compiled(kPrograms[1].first, kPrograms[1].second);
  std::set<std::pair<TileId, std::uint32_t>> known;
  for (const CodeletPlace& place : image.info.codelets) {
    for (const TileId tile : place.tiles) known.emplace(tile, place.pc);
  }
  for (const Superstep& superstep : observed(image, {.instructions = false, .worker_runs = true})) {
    for (const auto& [tile, runs] : superstep.runs) {
      for (const WorkerRun& run : runs) EXPECT_TRUE(known.contains({tile, run.entry}));
    }
  }
}

}  // namespace
}  // namespace superstep
