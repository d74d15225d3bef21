#include <gtest/gtest.h>

#include "tests/isa/tile_run.h"

namespace superstep {
namespace {

using testing::TileRun;

TEST(WorkerTiming, AnInstructionOrBundleTakesOneSlot) {
  TileRun run;
  EXPECT_EQ(run.slots("exitz $mzero"), 1U);
  EXPECT_EQ(run.slots("nop\n nop\n exitz $mzero"), 3U);
  EXPECT_EQ(run.slots("{ nop ; fnop }\n exitz $mzero"), 2U);
  EXPECT_EQ(run.slots("setzi $m0, 4\n1: brnzdec $m0, 1b\n exitz $mzero"), 1U + 5 + 1);
  EXPECT_EQ(run.slots("call $m10, 1f\n exitz $mzero\n1: br $m10"), 3U);
}

TEST(WorkerTiming, ARepeatTakesOneSlotAndThoseOfItsTurns) {
  TileRun run;
  const std::string body = "{ nop ; fnop }\n{ nop ; fnop }\n exitz $mzero";
  EXPECT_EQ(run.slots("nop\n rpt 5, 1\n" + body), 1U + 1 + 5 * 2 + 1);
  EXPECT_EQ(run.slots("nop\n rpt 0, 1\n" + body), 1U + 1 + 1);
  EXPECT_EQ(run.slots("setzi $m0, 1000\n rpt $m0, 1\n" + body), 1U + 1 + 2000 + 1);
  EXPECT_EQ(run.slots("{ rpt 5, 1 ; fnop }\n" + body), 1U + 5 * 2 + 1);
}

// Slots: reference isa.md 2.2 (PopLibs estimators).
TEST(WorkerTiming, LongInstructionsTakeTheirSlots) {
  TileRun run;
  EXPECT_EQ(run.slots("f32exp $a0, $a1\n exitz $mzero"), 4U);
  EXPECT_EQ(run.slots("f32ln $a0, $a1\n exitz $mzero"), 7U);
  EXPECT_EQ(run.slots("f32div $a0, $a1, $a2\n exitz $mzero"), 4U);
  EXPECT_EQ(run.slots("{ nop ; f32sigm $a0, $a1 }\n exitz $mzero"), 6U);
  EXPECT_EQ(run.slots("f16v2tanh $a0, $a1\n exitz $mzero"), 2U);
}

// The 64-bit fill of PopLibs takes 5 + n slots: five around an `rpt` of one st64step bundle.
TEST(WorkerTiming, AFillTakesFiveSlotsAndOneForEachStore) {
  TileRun run;
  run.put<std::uint32_t>(testing::kData, {0x60000, 7, 0x11, 0x22});
  EXPECT_EQ(run.slots("ld32 $m0, $mvertex_base, 0\n ld32 $m1, $mvertex_base, 1\n"
                      "ld64 $a0:1, $mvertex_base, 1\n"
                      "rpt $m1, 0\n"
                      "{ st64step $a0:1, $mzero, $m0+=, 1 ; fnop }\n"
                      "exitz $mzero"),
            5U + 7);
  EXPECT_EQ(run.get(0x60000, 16)[13], 0x22U);
  EXPECT_EQ(run.get(0x60000, 16)[14], 0U);
}

TEST(TileTiming, WorkersIssueSixCyclesAndTheirNumberAfterRunall) {
  TileRun run;
  // runall at cycle 7: both setzi results are ready six cycles after 0 and 1.
  const TileStop stop = run.work("nop\n exitz $mzero");
  EXPECT_EQ(stop.kind, TileStop::Kind::kSync);
  EXPECT_EQ(stop.zone, 15U);
  EXPECT_EQ(run.tile().launches().first_cycle, 7U);
  EXPECT_EQ(run.tile().launches().last_exit_cycle, 7U + 6 + 5 + 2 * 6);
  EXPECT_EQ(stop.cycle, 7U + 6 + 5 + 2 * 6 + 1);
  EXPECT_EQ(run.tile().worker_instructions(), 12U);
}

TEST(TileTiming, SupervisorResultsTakeSixCycles) {
  TileRun run;
  EXPECT_EQ(run.supervise("setzi $m0, 1\n sync 3").cycle, 1U);
  EXPECT_EQ(run.supervise("setzi $m0, 1\n add $m1, $m0, 1\n sync 3").cycle, 7U);
  EXPECT_EQ(run.supervise("setzi $m0, 1\n nop\n add $m1, $m0, 1\n sync 3").cycle, 7U);
  EXPECT_EQ(run.supervise("setzi $m0, 1\n add $m1, $m2, 1\n sync 3", 100).cycle, 102U);
}

TEST(TileTiming, ATakenSupervisorBranchTakesSixCycles) {
  TileRun run;
  EXPECT_EQ(run.supervise("bri 1f\n1: sync 3").cycle, 6U);
  EXPECT_EQ(run.supervise("brnz $m0, 1f\n1: sync 3").cycle, 1U);
  EXPECT_EQ(run.supervise("setzi $m0, 3\n1: brnzdec $m0, 1b\n sync 3").cycle, 6U + 3 * 6 + 1);
}

TEST(TileTiming, TheSupervisorGoesOnAfterASync) {
  TileRun run;
  EXPECT_EQ(run.supervise("sync 3\n setzi $m5, 9\n sync 4").zone, 3U);
  const TileStop stop = run.tile().run(1000);
  EXPECT_EQ(stop.zone, 4U);
  EXPECT_EQ(stop.cycle, 1001U);
  EXPECT_EQ(stop.pc, testing::kProgram + 8);
  EXPECT_EQ(run.tile().supervisor_register(5), 9U);
}

TEST(TileTiming, TheSupervisorOwnsOnlyTheSlotsOfIdleWorkers) {
  TileRun run;
  run.load(testing::kCodelet, "nop\n nop\n exitz $mzero");
  const TileStop stop = run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n nop\n sync 2\n sync 15");
  // Worker 0 leaves at 7 + 6 + 18: the nop issues then, the others' slots are not free before.
  EXPECT_EQ(stop.cycle, 7U + 6 + 5 + 3 * 6 + 1);
}

}  // namespace
}  // namespace superstep
