#include "sim/run_image.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "sim/sync/barrier.h"
#include "sim/trace/trace.h"
#include "tests/gc200.h"
#include "tests/scratch_folder.h"
#include "tests/sim/programs.h"

namespace superstep {
namespace {

TEST(Barrier, OpensOneSyncLatencyAfterTheLastArrival) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "delay 9\n sync 3\n sync 4\n");   // 10 cycles, then arrives
  add_program(image, 1, "delay 49\n sync 3\n sync 4\n");  // 50
  const Recorded run = record(image);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  ASSERT_EQ(run.supersteps.size(), 2u);
  const SuperstepRecord& first = run.supersteps[0];
  EXPECT_EQ(first.begin, 0_cycles);
  EXPECT_EQ(first.compute, 50_cycles);
  EXPECT_EQ(first.sync, 68_cycles);
  EXPECT_EQ(first.end, 118_cycles);
  EXPECT_EQ(first.critical, TileId{1});
  EXPECT_EQ(run.tiles[0][0].sync, 108u);  // arrived 40 cycles before the other
  EXPECT_EQ(run.supersteps[1].begin, 118_cycles);
}

TEST(Barrier, ReleasesATileItsSkewAfterTheOpening) {
  ProgramImage image;
  image.machine = gc200();
  image.machine.grid = {1, 2, 1};
  image.machine.sync.column_skew = {0, 9};
  add_program(image, 0, "sync 3\n sync 4\n");
  add_program(image, 1, "sync 3\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_EQ(run.supersteps.size(), 2u);
  const SuperstepRecord& last = run.supersteps[1];
  EXPECT_EQ(last.end - last.begin, 9_cycles);
  EXPECT_EQ(last.critical, TileId{1});
  EXPECT_EQ(run.tiles[1][0].compute, 0u);
  EXPECT_EQ(run.tiles[1][0].sync, 9u);
}

TEST(Barrier, BlamesTheLowestOfSeveralLastTiles) {
  ProgramImage image = image_of(3);
  add_program(image, 0, "delay 4\n sync 4\n");
  add_program(image, 1, "delay 9\n sync 4\n");
  add_program(image, 2, "delay 9\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_EQ(run.supersteps.size(), 1u);
  EXPECT_EQ(run.supersteps[0].critical, TileId{1});
}

TEST(Barrier, TilesThatWaitInDifferentZonesAreATrapNamingBoth) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n sync 4\n");
  add_program(image, 1, "delay 4\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_TRUE(run.result.trap);
  const std::string text = run.result.trap->text();
  EXPECT_EQ(run.result.trap->tile, TileId{1});
  EXPECT_NE(text.find("sync zone 4"), std::string::npos) << text;
  EXPECT_NE(text.find("tile 0 waits in sync zone 3"), std::string::npos) << text;
}

TEST(Barrier, AZoneThatIsNotModelledIsATrap) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 6\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_TRUE(run.result.trap);
  EXPECT_NE(run.result.trap->cause.find("zone 6 is not modelled"), std::string::npos);
}

TEST(Steps, AreNamedByTheSyncThatBeginsThem) {
  ProgramImage image = one_transfer("delay 9\n");
  image.info.steps.resize(2);
  image.marks = {{TileId{0}, kCode, 1}, {TileId{1}, kCode, 1}};
  const Recorded run = record(image);
  ASSERT_EQ(run.supersteps.size(), 3u);
  EXPECT_EQ(run.supersteps[0].step, 2u);  // before any sync: no step of the program
  EXPECT_EQ(run.supersteps[1].step, 1u);
  EXPECT_EQ(run.supersteps[2].step, 2u);
}

/// The shares of two steps that a loop launches without a barrier, the workers of the second for
/// ten slots more each time.
std::vector<ComputeShare> shares_of_loop(int rounds) {
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "setzi $m1, short\n setzi $m2, long\n setzi $m3, " + std::to_string(rounds - 1) + R"(
  loop:
    runall $m1, $m15, 0
    sync 2
    runall $m2, $m15, 0
    sync 2
    brnzdec $m3, loop
    sync 4
  long:
    .rept 10
    nop
    .endr
  short:
    exitz $m15)");
  image.info.steps.resize(2);
  image.marks = {{TileId{0}, kCode + 12, 0}, {TileId{0}, kCode + 20, 1}};
  return record(image).supersteps[0].shares;
}

TEST(Steps, OfALoopWithoutABarrierHaveTheCyclesOfAllItsRounds) {
  const std::vector<ComputeShare> two = shares_of_loop(2), three = shares_of_loop(3),
                                  nine = shares_of_loop(9);
  ASSERT_EQ(two.size(), 2U);
  ASSERT_EQ(nine.size(), 2U);
  std::vector<std::uint64_t> rounds;
  for (const std::size_t step : {0U, 1U}) {
    rounds.push_back(three[step].cycles - two[step].cycles);
    EXPECT_EQ(nine[step].cycles, two[step].cycles + 7 * rounds[step]);
  }
  // The branch leads to the first step.
  const MachineConfig machine = gc200();
  EXPECT_EQ(rounds[1] - rounds[0], 10 * machine.tile.workers - machine.costs.taken_branch);
}

/// The shares of two steps, before the second of which the supervisor loads so many weights.
std::vector<ComputeShare> shares_with_weights(int loads) {
  ProgramImage image = image_of(1);
  add_program(image, 0,
              R"(
    setzi $m1, codelet
    setzi $m2, 0x80000
    put $CCCSLOAD, $m2
    runall $m1, $m15, 0
    sync 2
    .rept )" + std::to_string(loads) +
                  R"(
    ld64putcs 0
    .endr
    runall $m1, $m15, 0
    sync 2
    sync 4
  codelet:
    exitz $m15)");
  image.info.steps.resize(2);
  const auto words = static_cast<std::uint32_t>(loads);
  image.marks = {{TileId{0}, kCode + 12, 0}, {TileId{0}, kCode + 20 + 4 * words, 1}};
  return record(image).supersteps[0].shares;
}

TEST(Steps, HaveTheCyclesInWhichTheirWeightsAreLoadedBehindTheWorkersOfOthers) {
  const std::vector<ComputeShare> none = shares_with_weights(0), ten = shares_with_weights(10);
  ASSERT_EQ(none.size(), 2U);
  ASSERT_EQ(ten.size(), 2U);
  EXPECT_EQ(ten[0].cycles, none[0].cycles);
  EXPECT_EQ(ten[1].cycles, none[1].cycles + 10);
}

// Both tiles leave the barrier in cycle 72. The `run` of tile 0 waits for its address until 79, its
// worker issues first in 85 and once more in 91.
TEST(Traps, NameCycleSuperstepTileContextPlaceAndCause) {
  const std::string with_worker =
      "sync 3\n setzi $m0, 0x4c018\n setzi $m1, 0x4000\n run $m0, $m1, 0\n sync 2\n sync 4\n"
      "nop\n ld32 $m0, $mzero, $mzero, 0\n";
  ProgramImage image = image_of(2);
  add_program(image, 0, with_worker);
  add_program(image, 1, "sync 3\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_TRUE(run.result.trap);
  EXPECT_EQ(
      run.result.trap->text(),
      "program trap at cycle 91, superstep 1, tile 0, worker 0, pc 0x4c01c: an address outside the "
      "tile's memory, 0x0");
}

TEST(Traps, TheEarliestIsReportedWhateverTheThreads) {
  ProgramImage image = image_of(4);
  // .word 0 is no instruction.
  add_program(image, 0, "delay 80\n .word 0\n");
  add_program(image, 1, "sync 3\n sync 4\n");
  add_program(image, 2, "delay 8\n .word 0\n");
  add_program(image, 3, "delay 8\n .word 0\n");
  for (const std::uint32_t threads : {1u, 2u, 4u}) {
    const Recorded run = record(image, {}, 1, threads);
    ASSERT_TRUE(run.result.trap);
    EXPECT_EQ(run.result.trap->tile, TileId{2}) << threads;
    EXPECT_EQ(run.result.trap->cycle, 9_cycles) << threads;
    EXPECT_EQ(run.result.trap->context, "supervisor");
  }
}

// Both leave the barrier in cycle 72, and arrive at the next one before the mux hears nothing.
TEST(Traps, BehindTheLastArrivalAreOfTheSuperstepThatTheOpeningEnds) {
  for (const int words : {1, 3, 60}) {
    ProgramImage image = image_of(2);
    add_program(image, 0,
                "sync 3\n send " + std::to_string(words - 1) + ", 0x20000, 3\n sync 3\n sync 4\n");
    add_program(image, 1,
                "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n sync 3\n sync 4\n");
    const std::optional<Trap> trap = record(image).result.trap;
    ASSERT_TRUE(trap);
    EXPECT_EQ(trap->cycle, Cycles(72 + 32 + static_cast<std::uint64_t>(words)));
    EXPECT_EQ(trap->superstep, 1u) << trap->text();
  }
}

// Both tiles leave the barrier in cycle 72; the fabric is asked when both have run.
TEST(Traps, OfTwoInOneCycleThatOfTheLowerTileIsReported) {
  const std::string listens =
      "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 1\n"  // in vain, in cycle 72 + 32
      "delayxpic 9, 0, 0x640\n sync 3\n sync 4\n";
  for (const std::string lasts : {"30", "31"}) {
    ProgramImage image = image_of(2);
    add_program(image, 0, listens);
    add_program(image, 1, "sync 3\n delay " + lasts + "\n .word 0\n");
    const std::optional<Trap> trap = record(image).result.trap;
    ASSERT_TRUE(trap);
    const bool is_earlier = lasts == "30";
    EXPECT_EQ(trap->cycle, is_earlier ? 103_cycles : 104_cycles);
    EXPECT_EQ(trap->tile, is_earlier ? TileId{1} : TileId{0}) << trap->text();
    EXPECT_EQ(trap->context, is_earlier ? "supervisor" : "exchange");
  }
}

TEST(Traps, OfTwoOfATileInOneCycleThatOfTheFirstContextIsReported) {
  // One word arrives in cycle 72 + 32 and none in the next, in which the supervisor faults.
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 1\n .word 0\n");
  add_program(image, 1, "sync 3\n send 0, 0x20000, 3\n sync 3\n sync 4\n");
  const std::optional<Trap> trap = record(image).result.trap;
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->cycle, 105_cycles);
  EXPECT_EQ(trap->tile, TileId{0});
  EXPECT_EQ(trap->context, "exchange") << trap->text();
}

TEST(Run, WritesTheSameTraceWithAnyNumberOfThreads) {
  ProgramImage image = image_of(8);
  for (std::uint32_t tile = 0; tile < 8; ++tile) {
    const std::string work = "delay " + std::to_string(10 + 37 * tile % 50) + "\n";
    add_program(image, tile, "sync 3\n" + work + "sync 3\n" + work + work + "sync 4\n");
  }
  const auto trace_with = [&](std::uint32_t threads) {
    const auto path = scratch_folder() / (std::to_string(threads) + ".h5");
    TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
    RunOptions options;
    options.threads = threads;
    options.on_superstep = [&](const SuperstepRecord& superstep) {
      writer.on_superstep(superstep);
    };
    writer.finish(run_image(image, {}, options));
    EXPECT_EQ(read_trace(path).totals.supersteps, 3u);
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string one = trace_with(1);
  EXPECT_EQ(one, trace_with(2));
  EXPECT_EQ(one, trace_with(5));
}

TEST(Run, CountsTheInstructionsOfWorkersByClass) {
  ProgramImage image = image_of(2);
  add_program(image, 0, R"(
    setzi $m1, worker
    run $m1, $m15, 0
    sync 2
    sync 3
    sync 4
    .align 8
  worker:
    setzi $m0, 2
  loop:
    brnzdec $m0, loop
    setzi $m1, 0x80000
    setzi $m2, 0x80000
    setzi $m3, 0x22000  // of the third address, 0x88000
    shl $m3, $m3, 12
    { ld64 $a2:3, $m1, $m15, 0 ; f32v2add $a0:1, $a0:1, $a0:1 }
    st32 $m0, $m1, $m15, 64
    rpt 5, 1
    { ldst64pace $a0:1, $a2:3, $m2:3+=, $m15, 0 ; f32sisoamp $a4:5, $a6, $a8:9, 0 }
    { nop ; fnop }
    exitz $m15)");
  add_program(image, 1, "sync 3\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  // The first branch is taken twice; the body of the `rpt` runs 5 times.
  const InstructionCounts of_worker = {.all = 13 + 5 * 4,
                                       .aux = 1 + 5 * 2,
                                       .amp = 5,
                                       .loads = 1 + 5,
                                       .stores = 1 + 5,
                                       .branches = 3};
  EXPECT_EQ(run.supersteps[0].worker_instructions, of_worker);
  EXPECT_EQ(run.tiles[0][0].instructions, of_worker);
  EXPECT_EQ(run.tiles[0][1].instructions, InstructionCounts());
  EXPECT_EQ(run.supersteps[1].worker_instructions, InstructionCounts());
}

TEST(Run, PartsOfASuperstepOfMoreThan2To32CyclesAddUp) {
  // As many as an instruction may take, and turns as a loop may have.
  constexpr std::uint64_t kSlots = 64, kTurns = 4095, kLoops = 2800;
  ProgramImage image = image_of(2);
  image.machine.costs.f32tanh = kSlots;
  std::string program = R"(
    setzi $m1, worker
    runall $m1, $m15, 0
    sync 2
    sync 3
    sync 4
    .align 8
  worker:
)";
  for (std::uint64_t i = 0; i < kLoops; ++i) {
    program += " nop\n rpt 4095, 0\n { nop ; f32tanh $a0, $a0 }\n";
  }
  add_program(image, 0, program + " exitz $m15");
  add_program(image, 1, "sync 3\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  const SuperstepRecord& first = run.supersteps[0];
  const std::vector<TilePhase>& tiles = run.tiles[0];
  // Each of six workers: `nop`, `rpt` and its turns as often, and `exitz`, in slots of six cycles.
  constexpr std::uint64_t kWorkerSlots = kLoops * (kTurns * kSlots + 2) + 1;
  EXPECT_EQ(tiles[0].worker_busy, 6 * 6 * kWorkerSlots);
  EXPECT_GT(first.compute.value(), 6 * kWorkerSlots);
  EXPECT_LT(first.compute.value(), 6 * kWorkerSlots + 100);
  static_assert(6 * kWorkerSlots > std::uint64_t{1} << 32);
  EXPECT_EQ(tiles[0].compute, first.compute.value());
  EXPECT_EQ(first.shares.back().cycles, first.compute.value());
  EXPECT_EQ(tiles[1].compute + tiles[1].sync, first.end.value());
}

TEST(Run, StopsBetweenSuperstepsWhenInterrupted) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n sync 3\n sync 3\n sync 4\n");
  RunOptions options;
  int polls = 0;
  options.interrupted = [&] { return ++polls == 2; };
  const RunResult result = run_image(image, {}, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.trap);
  EXPECT_EQ(result.totals.supersteps, 2u);
}

TEST(Run, StopsInsideASuperstepWithoutEndWhenInterrupted) {
  const char* const programs[] = {
      "sync 3\n setzi $m0, worker\n setzi $m1, 0x80000\n runall $m0, $m1, 0\n sync 2\n sync 4\n"
      ".align 8\nworker:\n bri worker\n",
      "sync 3\nagain:\n bri again\n"};
  for (const char* program : programs) {
    ProgramImage image = image_of(3);
    for (std::uint32_t tile = 0; tile < 3; ++tile) add_program(image, tile, program);
    RunOptions options;
    options.threads = 2;
    std::atomic<int> polls = 0;
    options.interrupted = [&] { return ++polls > 2; };
    const RunResult result = run_image(image, {}, options);
    EXPECT_TRUE(result.interrupted);
    EXPECT_FALSE(result.trap);
    EXPECT_EQ(result.totals.supersteps, 1u);
  }
}

TEST(Run, StopsInsideASuperstepOfManyShortLoopsWhenInterrupted) {
  ProgramImage image = image_of(3);
  for (std::uint32_t tile = 0; tile < 3; ++tile) {
    add_program(image, tile, R"(
      sync 3
      setzi $m0, worker
      setzi $m1, 0x80000
      runall $m0, $m1, 0
      sync 2
      runall $m0, $m1, 0
      sync 2
      runall $m0, $m1, 0
      sync 2
      runall $m0, $m1, 0
      sync 2
      sync 3
      sync 4
      .align 8
    worker:
      nop
      rpt 900, 0
      { nop ; fnop }
      exitz $m15)");
  }
  for (const int polls_before : {1, 2}) {
    RunOptions options;
    options.threads = 1;
    int polls = 0;
    options.interrupted = [&] { return ++polls > polls_before; };
    const RunResult result = run_image(image, {}, options);
    EXPECT_TRUE(result.interrupted);
    EXPECT_FALSE(result.trap);
    EXPECT_EQ(result.totals.supersteps, 1u);
    EXPECT_EQ(polls, polls_before + 1) << "and tiles behind the one that asked do not run";
  }
}

}  // namespace
}  // namespace superstep
