#include <gtest/gtest.h>

#include <algorithm>

#include "sim/tile/slot_counter.h"
#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using testing::TileRun;

/// A worker's slots are as many cycles apart as there are workers, or as its pipeline is deep.
struct Workers {
  std::uint32_t count, depth;
};

class TileTiming : public ::testing::TestWithParam<Workers> {
 protected:
  [[nodiscard]] static std::uint64_t workers() { return GetParam().count; }
  [[nodiscard]] static std::uint64_t period() {
    return std::max(GetParam().count, GetParam().depth);
  }
  [[nodiscard]] static MachineConfig machine() {
    MachineConfig machine = gc200();
    machine.tile.workers = GetParam().count;
    machine.tile.pipeline_depth = GetParam().depth;
    return machine;
  }
  static std::uint64_t slots(const std::string& codelet) {
    TileRun run(machine());
    return run.slots(codelet);
  }
  /// The cycle at which a supervisor program reaches its sync.
  static std::uint64_t arrival(const std::string& program, std::uint64_t release = 0) {
    TileRun run(machine());
    return run.supervise(program, release).cycle;
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, TileTiming,
                         ::testing::Values(Workers{1, 6}, Workers{4, 6}, Workers{6, 6},
                                           Workers{8, 6}, Workers{16, 6}, Workers{1, 1},
                                           Workers{4, 1}, Workers{6, 11}));

// Slots of a worker: graphcore/poplibs' estimators.
TEST_P(TileTiming, AnInstructionOrBundleTakesOneSlot) {
  EXPECT_EQ(slots("exitz $mzero"), 1U);
  EXPECT_EQ(slots("nop\n nop\n exitz $mzero"), 3U);
  EXPECT_EQ(slots("{ nop ; fnop }\n exitz $mzero"), 2U);
  EXPECT_EQ(slots("{ nop ; fnop }\n{ exitz $mzero ; fnop }"), 2U);
}

TEST_P(TileTiming, AWorkersLoadHasNoExtraDelay) {
  EXPECT_EQ(slots("ld32 $m0, $mvertex_base, 0\n add $m1, $m0, 1\n"
                  "st32 $m1, $mvertex_base, $mzero, 1\n ld32 $m2, $mvertex_base, 1\n"
                  "brnz $m2, 1f\n1: exitz $mzero"),
            6U);
  TileRun run(machine());
  run.put<std::uint32_t>(0x80000, {0x80000, 0});
  EXPECT_EQ(run.slots("setzi $m0, 0x80000\n ld128 $a0:3, $m0, 0\n atom $m1, $a0\n"
                      "ld32 $m1, $m1, 0\n exitz $mzero"),
            5U);
}

TEST_P(TileTiming, AWorkersBranchTakesOneSlotTakenOrNot) {
  EXPECT_EQ(slots("brz $mzero, 1f\n1: exitz $mzero"), 2U);
  EXPECT_EQ(slots("brnz $mzero, 1f\n1: exitz $mzero"), 2U);
  EXPECT_EQ(slots("brneg $mzero, 1f\n1: exitz $mzero"), 2U);
  EXPECT_EQ(slots("brpos $mzero, 1f\n1: exitz $mzero"), 2U);
  EXPECT_EQ(slots("bri 1f\n1: exitz $mzero"), 2U);
  EXPECT_EQ(slots("setzi $m0, 4\n1: brnzdec $m0, 1b\n exitz $mzero"), 1U + 5 + 1);
  EXPECT_EQ(slots("call $m10, 1f\n exitz $mzero\n1: br $m10"), 3U);
}

TEST_P(TileTiming, ARepeatTakesOneSlotAndThoseOfItsTurns) {
  const std::string body = "{ nop ; fnop }\n{ nop ; fnop }\n exitz $mzero";
  EXPECT_EQ(slots("nop\n rpt 5, 1\n" + body), 1U + 1 + 5 * 2 + 1);
  EXPECT_EQ(slots("nop\n rpt 1, 1\n" + body), 1U + 1 + 2 + 1);
  EXPECT_EQ(slots("nop\n rpt 0, 1\n" + body), 1U + 1 + 1);
  EXPECT_EQ(slots("setzi $m0, 1000\n rpt $m0, 1\n" + body), 1U + 1 + 2000 + 1);
  EXPECT_EQ(slots("{ rpt 5, 1 ; fnop }\n" + body), 1U + 5 * 2 + 1);
  EXPECT_EQ(slots("nop\n rpt 5, 0\n{ nop ; f32exp $a0, $a1 }\n exitz $mzero"), 1U + 1 + 5 * 3 + 1);
}

TEST_P(TileTiming, LongInstructionsHoldTheirSlot) {
  EXPECT_EQ(slots("f32exp $a0, $a1\n exitz $mzero"), 4U);
  EXPECT_EQ(slots("f32exp2 $a0, $a1\n exitz $mzero"), 4U);
  EXPECT_EQ(slots("f32ln $a0, $a1\n exitz $mzero"), 7U);
  EXPECT_EQ(slots("f32log2 $a0, $a1\n exitz $mzero"), 7U);
  EXPECT_EQ(slots("f32div $a0, $a1, $a2\n exitz $mzero"), 4U);
  EXPECT_EQ(slots("f32sqrt $a0, $a1\n exitz $mzero"), 5U);
  EXPECT_EQ(slots("f32oox $a0, $a1\n exitz $mzero"), 3U);
  EXPECT_EQ(slots("f32oorx $a0, $a1\n exitz $mzero"), 4U);
  EXPECT_EQ(slots("f32tanh $a0, $a1\n exitz $mzero"), 6U);
  EXPECT_EQ(slots("{ nop ; f32sigm $a0, $a1 }\n exitz $mzero"), 6U);
  EXPECT_EQ(slots("f16v2tanh $a0, $a1\n exitz $mzero"), 2U);
  EXPECT_EQ(slots("f16v2sigm $a0, $a1\n exitz $mzero"), 3U);
  EXPECT_EQ(slots("f16v2exp $a0, $a1\n exitz $mzero"), 3U);
  EXPECT_EQ(slots("f16v2ln $a0, $a1\n exitz $mzero"), 3U);
}

// Both addresses are ready six cycles after they are set in cycles 0 and 1: runall in cycle 7.
TEST_P(TileTiming, WorkersIssueSixCyclesAndTheirNumberAfterRunall) {
  for (const std::uint64_t instructions : {1U, 2U, 9U}) {
    TileRun run(machine());
    std::string codelet;
    for (std::uint64_t i = 1; i < instructions; ++i) codelet += "nop\n";
    const TileStop stop = run.work(codelet + "exitz $mzero");
    EXPECT_EQ(run.tile().launches().first_cycle, 7U);
    const std::uint64_t left = 7U + 6 + (workers() - 1) + instructions * period();
    EXPECT_EQ(run.tile().launches().last_exit_cycle, left);
    // `sync LOCAL` takes the cycle in which the last worker has left.
    EXPECT_EQ(stop.cycle, left + 1);
    EXPECT_EQ(run.tile().worker_instructions().all, instructions * workers());
  }
}

// A fault is dated to its slot: worker w's slots are at 7 + 6 + w and then a round apart.
TEST_P(TileTiming, EachWorkerHasItsOwnSlotOfTheRound) {
  for (std::uint64_t worker = 0; worker < workers(); ++worker) {
    TileRun run(machine());
    const TileStop stop = run.work("get $m0, $WSR\n cmpeq $m0, $m0, " + std::to_string(worker) +
                                   "\n brz $m0, 1f\n trap 0\n1: exitz $mzero");
    ASSERT_EQ(stop.kind, TileStop::Kind::kFault);
    EXPECT_EQ(run.tile().fault()->context, "worker " + std::to_string(worker));
    EXPECT_EQ(stop.cycle, 7U + 6 + worker + 3 * period());
  }
}

/// The first `count` cycles from `begin` on that no worker owns: worker w of `busy` ones owns
/// `turn` + w and every round after that.
std::vector<std::uint32_t> free_cycles(std::uint64_t begin, std::uint64_t turn, std::uint64_t busy,
                                       std::uint64_t round, std::size_t count) {
  std::vector<std::uint32_t> free;
  for (std::uint64_t cycle = begin; free.size() < count; ++cycle) {
    const bool owned = cycle >= turn && (cycle - turn) % round < busy;
    if (!owned) free.push_back(static_cast<std::uint32_t>(cycle));
  }
  return free;
}

TEST_P(TileTiming, TheSupervisorIssuesInEverySlotThatNoWorkerOwns) {
  // More would issue before the last of them is launched.
  for (std::uint64_t busy = 0; busy < std::min<std::uint64_t>(workers(), 7); ++busy) {
    SCOPED_TRACE(busy);
    TileRun run(machine());
    run.load(testing::kCodelet, "nop\n rpt 100, 0\n{ nop ; fnop }\n exitz $mzero");
    // The addresses are ready at 7: `run`s in cycles 7, 8, …; worker w issues first at 13 + w.
    std::string program = "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n";
    for (std::uint64_t i = 0; i < busy; ++i) program += "run $m0, $m1, 0\n";
    if (busy == 0) program += "nop\n nop\n nop\n nop\n nop\n";
    for (int i = 2; i < 12; ++i) program += "get $m" + std::to_string(i) + ", $COUNT_L\n";
    const TileStop stop = run.supervise(program + "sync 2\n sync 4");
    ASSERT_EQ(stop.kind, TileStop::Kind::kSync) << run.cause();
    const std::vector<std::uint32_t> expected = free_cycles(7 + busy, 13, busy, period(), 10);
    for (std::uint32_t i = 0; i < 10; ++i) {
      EXPECT_EQ(run.tile().supervisor_register(2 + i), expected[i]) << i;
    }
  }
}

TEST_P(TileTiming, ASupervisorWithoutSlotsWaitsForTheFirstWorkerToLeave) {
  if (workers() < period()) return;
  TileRun run(machine());
  // Worker 0 ends after 4 instructions, the others after 6.
  run.load(testing::kCodelet, "get $m0, $WSR\n brz $m0, 1f\n nop\n nop\n1: nop\n exitz $mzero");
  const TileStop stop = run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n delay 5\n"
      "get $m2, $COUNT_L\n get $m3, $COUNT_L\n sync 2\n sync 4");
  ASSERT_EQ(stop.kind, TileStop::Kind::kSync);
  // The round from 13 on is full until worker 0 has left: its first free slot, and then another.
  const std::uint64_t left = 13 + 4 * workers();
  EXPECT_EQ(run.tile().supervisor_register(2), left);
  EXPECT_EQ(run.tile().supervisor_register(3), left + workers());
}

// A worker launched beside others takes the next slot of its own place in the round.
TEST_P(TileTiming, AWorkerThatIsLaunchedLaterKeepsItsPlaceInTheRound) {
  if (workers() < 4) return;
  TileRun run(machine());
  // Worker 1 faults in its first slot; worker 0 was launched at 7 and has slots at 13, 13 + W, …
  run.load(testing::kCodelet,
           "get $m0, $WSR\n brnz $m0, 1f\n nop\n rpt 100, 0\n{ nop ; fnop }\n exitz $mzero\n"
           "1: trap 0");
  const TileStop stop = run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n run $m0, $m1, 0\n delay 1\n run $m0, $m1, 0\n"
      "sync 2\n sync 4");
  ASSERT_EQ(stop.kind, TileStop::Kind::kFault);
  EXPECT_EQ(run.tile().fault()->context, "worker 1");
  // Launched at 10: not before 16, in the slots of 14, 14 + period, …; then two more.
  EXPECT_EQ(stop.cycle, 14 + period() + 2 * period());
}

// Launched workers own no slot before their first one; from there on the supervisor waits.
TEST_P(TileTiming, ALaunchWithoutAnIdleWorkerIsAFaultOrWaitsForASlot) {
  TileRun run(machine());
  run.load(testing::kCodelet, "nop\n exitz $mzero");
  std::string program = "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n";
  for (std::uint64_t i = 0; i <= workers(); ++i) program += "run $m0, $m1, 0\n";
  const TileStop stop = run.supervise(program + "sync 2\n sync 4");
  if (workers() < 6 || workers() < period()) {
    ASSERT_EQ(stop.kind, TileStop::Kind::kFault);
    EXPECT_EQ(run.cause(), "run while every worker is running");
    EXPECT_EQ(stop.cycle, workers() < 6 ? 7 + workers() : 13 + workers());
  } else {
    EXPECT_EQ(stop.kind, TileStop::Kind::kSync);
    EXPECT_EQ(run.tile().launches().places.size(), workers() + 1);
  }
}

TEST_P(TileTiming, SupervisorResultsTakeSixCycles) {
  EXPECT_EQ(arrival("setzi $m0, 1\n sync 3"), 1U);
  EXPECT_EQ(arrival("setzi $m0, 1\n add $m1, $m0, 1\n sync 3"), 7U);
  EXPECT_EQ(arrival("setzi $m0, 1\n nop\n add $m1, $m0, 1\n sync 3"), 7U);
  EXPECT_EQ(arrival("setzi $m0, 1\n nop\n nop\n nop\n nop\n nop\n add $m1, $m0, 1\n sync 3"), 7U);
  EXPECT_EQ(arrival("setzi $m0, 1\n nop\n nop\n nop\n nop\n nop\n nop\n add $m1, $m0, 1\n sync 3"),
            8U);
  EXPECT_EQ(arrival("setzi $m0, 1\n add $m1, $m2, 1\n sync 3", 100), 102U);
  EXPECT_EQ(arrival("setzi $m0, 0x50000\n ld32 $m1, $m0, 0\n add $m2, $m1, 1\n sync 3"), 13U);
}

TEST_P(TileTiming, ATakenSupervisorBranchTakesSixCycles) {
  EXPECT_EQ(arrival("bri 1f\n1: sync 3"), 6U);
  EXPECT_EQ(arrival("brz $m0, 1f\n1: sync 3"), 6U);
  EXPECT_EQ(arrival("brnz $m0, 1f\n1: sync 3"), 1U);
  EXPECT_EQ(arrival("brpos $m0, 1f\n1: sync 3"), 6U);
  EXPECT_EQ(arrival("brneg $m0, 1f\n1: sync 3"), 1U);
  EXPECT_EQ(arrival("call $m10, 1f\n1: sync 3"), 6U);
  EXPECT_EQ(arrival("setzi $m0, 3\n1: brnzdec $m0, 1b\n sync 3"), 6U + 3 * 6 + 1);
}

TEST_P(TileTiming, ALocalSyncOfAnIdleTileTakesOneCycle) {
  EXPECT_EQ(arrival("sync 2\n sync 3"), 1U);
  EXPECT_EQ(arrival("sync 2\n sync 2\n sync 2\n sync 3"), 3U);
}

TEST_P(TileTiming, LoadingCommonWeightsTakesACycleEach) {
  std::string text = "ldconst $m0, 0x80000\n put $CCCSLOAD, $m0\n";
  const std::uint64_t before = arrival(text + "sync 3");
  for (int i = 0; i < 32; ++i) text += "ld128putcs " + std::to_string(2 * i) + "\n";
  EXPECT_EQ(arrival(text + "sync 3"), before + 32);
}

TEST(TileCosts, AMatrixInstructionTakesTheMoreSlotsTheFewerUnitsThereAre) {
  MachineConfig machine = gc200();
  for (const std::uint32_t units : {16U, 8U, 4U}) {
    machine.tile.amp_units = units;
    TileRun run(machine);
    EXPECT_EQ(run.slots("f32sisov2amp $a0:1, $a2, $a4:5, TAMP_F32_E4_P0\n"
                        "{ nop ; f16v4sisoamp $a0:1, $a2:3, $a4:5, TAMP_F16V4_E4_P0 }\n"
                        "f16v4sisoslic $a0:1, $a2:3, $a4:5, TSLIC_F16V4_1x4_W0\n exitz $mzero"),
              3 * 16 / units + 1);
  }
  machine.tile.amp_units = 0;
  TileRun none(machine);
  none.work_alone("{ nop ; f32sisov2amp $a0:1, $a2, $a4:5, TAMP_F32_E4_P0 }\n exitz $mzero");
  EXPECT_NE(none.cause().find("on a machine without AMP units (tile.amp_units = 0)"),
            std::string::npos)
      << none.cause();
}

// Region 0 has elements of 16 KiB, and region 1 turns between two of them by 8 bytes.
TEST(TileCosts, ConflictsOfBanksStallWhereTheyDoNotTrap) {
  const auto body = [&](int second) {
    return "setzi $m0, 0x50000\n ldconst $m1, " + std::to_string(second) +
           "\n tapack $m2:3, $m0, $m1, $mzero\n"
           "ld2x64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0\n exitz $mzero";
  };
  TileRun traps;
  traps.work_alone(body(0x50100));
  EXPECT_EQ(traps.cause(),
            "two accesses of one instruction to the same memory element, 0x50000 and 0x50100");
  MachineConfig machine = gc200();
  machine.tile.bank_conflicts = BankConflicts::kStall;
  TileRun stalls(machine), apart(machine);
  const std::uint64_t slots = apart.slots(body(0x54100));
  EXPECT_EQ(stalls.slots(body(0x50100)), slots + 1);
}

TEST(TileCosts, AWatchedWorkerStallsAsOthersDo) {
  MachineConfig machine = gc200();
  machine.tile.bank_conflicts = BankConflicts::kStall;
  // It ends within a pair of elements, so that the load beyond it would stall as well.
  machine.tile.memory_bytes -= 64;
  for (const std::uint32_t loads : {3U, 4U}) {
    SCOPED_TRACE(loads);
    const std::uint32_t first = machine.memory_end() - 24;
    const std::string codelet =
        "setzi $m0, " + std::to_string(first) + "\n setzi $m1, " + std::to_string(first - 16) +
        "\n tapack $m2:3, $m0, $m1, $mzero\n nop\n setzi $m4, " + std::to_string(loads) +
        "\n rpt $m4, 0\n{ ld2x64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0 ; fnop }\n exitz $mzero";
    TileRun plain(machine), watched(machine);
    SlotCounter counter(machine);
    watched.tile().observe(&counter);
    const TileStop expected = plain.work_alone(codelet), stop = watched.work_alone(codelet);
    EXPECT_EQ(stop.kind, loads == 3 ? TileStop::Kind::kSync : TileStop::Kind::kFault);
    EXPECT_EQ(stop.kind, expected.kind);
    EXPECT_EQ(stop.cycle, expected.cycle);
    EXPECT_EQ(watched.cause(), plain.cause());
    if (loads == 4) {
      EXPECT_EQ(watched.tile().fault()->cycle, plain.tile().fault()->cycle);
      continue;
    }
    EXPECT_EQ(counter.worker(0).extra_slots, loads);
    EXPECT_EQ(counter.worker(0).total() * machine.issue_period(),
              plain.tile().worker_busy_cycles());
  }
}

TEST(TileCosts, AreThoseOfTheMachine) {
  MachineConfig machine = gc200();
  machine.costs.f32exp = 11;
  machine.costs.f16v2tanh = 3;
  machine.costs.taken_branch = 9;
  machine.costs.result_latency = 4;
  machine.costs.runall = 10;
  TileRun run(machine);
  EXPECT_EQ(run.slots("f32exp2 $a0, $a1\n f16v2tanh $a0, $a1\n exitz $mzero"), 11U + 3 + 1);
  TileRun branch(machine);
  EXPECT_EQ(branch.supervise("bri 1f\n1: sync 3").cycle, 9U);
  TileRun result(machine);
  EXPECT_EQ(result.supervise("setzi $m0, 1\n add $m1, $m0, 1\n sync 3").cycle, 5U);
  // Both addresses are ready at 5.
  TileRun launch(machine);
  EXPECT_EQ(launch.work("exitz $mzero").cycle, 5U + 10 + 5 + 6 + 1);
}

TEST_P(TileTiming, TheSupervisorGoesOnAfterASync) {
  TileRun run(machine());
  EXPECT_EQ(run.supervise("sync 3\n setzi $m5, 9\n sync 4").zone, 3U);
  const TileStop stop = run.tile().run(1000);
  EXPECT_EQ(stop.zone, 4U);
  EXPECT_EQ(stop.cycle, 1001U);
  EXPECT_EQ(stop.pc, testing::kProgram + 8);
  EXPECT_EQ(run.tile().supervisor_register(5), 9U);
}

}  // namespace
}  // namespace superstep
