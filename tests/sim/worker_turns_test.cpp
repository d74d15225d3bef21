// Bodies of `rpt` that are one step have loops of their own, which must do what turns one by one
// do.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using testing::kCodelet;
using testing::kData;
using testing::kInterleaved;
using testing::kRunWorker;
using testing::TileRun;

/// A codelet that ran on one worker: ahead, and step by step.
struct Both {
  explicit Both(std::string_view codelet, const MachineConfig& machine = gc200())
      : ahead(machine), in_turn(machine) {
    in_turn.tile().take_turns();
    for (TileRun* run : {&ahead, &in_turn}) {
      run->load(kCodelet, codelet);
      std::vector<float> numbers(64);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i);
      run->put(kInterleaved, numbers);
      (void)run->supervise(kRunWorker);
    }
    EXPECT_EQ(ahead.tile().worker_instructions(), in_turn.tile().worker_instructions());
    EXPECT_EQ(ahead.tile().worker_busy_cycles(), in_turn.tile().worker_busy_cycles());
    for (const std::uint32_t address : {kData, kInterleaved, kCodelet, 0xe7fc0U}) {
      EXPECT_EQ(ahead.get(address, 16), in_turn.get(address, 16)) << address;
    }
    EXPECT_EQ(ahead.tile().fault().has_value(), in_turn.tile().fault().has_value());
    if (!ahead.tile().fault() || !in_turn.tile().fault()) return;
    EXPECT_EQ(ahead.tile().fault()->cause, in_turn.tile().fault()->cause);
    EXPECT_EQ(ahead.tile().fault()->cycle, in_turn.tile().fault()->cycle);
    EXPECT_EQ(ahead.tile().fault()->pc, in_turn.tile().fault()->pc);
  }

  TileRun ahead, in_turn;
};

TEST(WorkerTurns, AFillStoresEveryWord) {
  Both both(
      ".align 8\n setzi $m2, 0x80000\n setzi $m0, 7\n st32 $m0, $m2, $mzero, 1\n"
      "ld64 $a0:1, $m2, $mzero, 0\n nop\n rpt 7, 0\n { st64step $a0:1, $mzero, $m2+=, 1 ; fnop }\n"
      "st32 $m2, $mvertex_base, $mzero, 0\n exitz $mzero");
  ASSERT_FALSE(both.ahead.tile().fault());
  EXPECT_EQ(both.ahead.get(kInterleaved, 14),
            (std::vector<std::uint32_t>{0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7}));
  EXPECT_EQ(both.ahead.get(kData, 1), std::vector<std::uint32_t>{kInterleaved + 7 * 8});
}

TEST(WorkerTurns, AFillThatLeavesMemoryFaultsInItsTurn) {
  Both both(
      ".align 8\n setzi $m2, 0xe7fc0\n setzi $m0, 7\n st32 $m0, $m2, $mzero, 0\n"
      "ld64 $a0:1, $m2, $mzero, 0\n nop\n rpt 20, 0\n { st64step $a0:1, $mzero, $m2+=, 1 ; fnop }\n"
      "exitz $mzero");
  ASSERT_TRUE(both.ahead.tile().fault());
  EXPECT_EQ(both.ahead.tile().fault()->pc, kCodelet + 24);
  // Before it came six instructions and eight turns, a slot every six cycles.
  EXPECT_EQ(both.ahead.tile().worker_busy_cycles(), (6 + 8) * 6U);
  EXPECT_EQ(both.ahead.get(0xe7fc0 + 7 * 8, 1), std::vector<std::uint32_t>{7});
}

TEST(WorkerTurns, AFillThatComesToCodeFaults) {
  Both both(
      ".align 8\n setzi $m2, 0x4cff0\n nop\n nop\n rpt 20, 0\n"
      "{ st64step $azeros, $mzero, $m2+=, 1 ; fnop }\n exitz $mzero");
  ASSERT_TRUE(both.ahead.tile().fault());
  EXPECT_EQ(both.ahead.tile().fault()->cause, "a store over code inside an rpt body");
}

TEST(WorkerTurns, AStoreOverCodeThatStallsFaultsInItsSlot) {
  MachineConfig machine = gc200();
  machine.tile.bank_conflicts = BankConflicts::kStall;
  // Loads and stores in one element: each turn stalls, and the fourth stores over the codelet.
  Both both(
      ".align 8\n setzi $m0, 0x4c800\n setzi $m1, 0x4cfe8\n tapack $m2:3, $m0, $mzero, $m1\n"
      "rpt 20, 0\n { ldst64pace $a0:1, $azeros, $m2:3+=, $mzero, 0 ; fnop }\n exitz $mzero",
      machine);
  ASSERT_TRUE(both.ahead.tile().fault());
  EXPECT_EQ(both.ahead.tile().fault()->cause, "a store over code inside an rpt body");
}

TEST(WorkerTurns, ASumAddsEveryRow) {
  Both both(
      ".align 8\n setzi $m2, 0x80000\n nop\n nop\n rpt 5, 0\n"
      "{ ld128step $a0:3, $mzero, $m2+=, 1 ; f32v4acc $a0:3 }\n"
      "f32v2gina $a4:5, $azeros, 0\n st64 $a4:5, $mvertex_base, $mzero, 0\n exitz $mzero");
  ASSERT_FALSE(both.ahead.tile().fault());
  // Of what was loaded a turn before: squares of 0, 4, 8 and 12; of 1, 5, 9 and 13.
  EXPECT_EQ(both.ahead.get<float>(kData, 2), (std::vector<float>{224.0F, 276.0F}));
}

}  // namespace
}  // namespace superstep
