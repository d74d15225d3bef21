#include <gtest/gtest.h>

#include "tests/tile_run.h"

namespace superstep {
namespace {

TEST(Worker, ItsIdIsInTheStatusRegister) {
  testing::TileRun run;
  run.work("get $m0, $WSR\n and $m0, $m0, 7\n stm32 $m0, $mvertex_base, $m0\n exitz $mzero");
  EXPECT_EQ(run.get(testing::kData, 6), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

// A division takes 3 slots; a slot is 6 cycles.
TEST(Worker, ReadsTheCycleCounterWhereItsGetIssues) {
  const std::vector<std::uint32_t> out = testing::run_worker(
      "get $m0, $COUNT_L\n{ nop ; f32div $a0, $a1, $a2 }\n nop\n get $m1, $COUNT_L\n"
      "get $m2, $COUNT_U\n sub $m1, $m1, $m0\n st32 $m1, $mvertex_base, $mzero, 0\n"
      "st32 $m2, $mvertex_base, $mzero, 1\n exitz $mzero",
      {7, 7}, 2);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{30, 0}));
}

/// Looks at each instruction and changes nothing.
class Watcher : public InstructionObserver {
  void issued(const IssuedInstruction&) override {}
};

// From the first `get`, behind a return and a branch to a register, to the second there are 9
// slots: itself, two instructions, an `rpt` with 4 turns, and a branch.
TEST(Worker, ReadsTheCycleCounterBehindIndirectBranches) {
  const std::string codelet =
      ".align 8\n setzi $m3, 1f\n call $m10, 2f\n br $m3\n"
      "2: nop\n br $m10\n"
      ".align 8\n1: get $m0, $COUNT_L\n setzi $m4, 3f\n nop\n rpt 4, 0\n{ nop ; fnop }\n"
      "br $m4\n"
      "3: get $m1, $COUNT_L\n get $m2, $COUNT_U\n"
      "sub $m5, $m1, $m0\n st32 $m5, $mvertex_base, $mzero, 0\n"
      "st32 $m2, $mvertex_base, $mzero, 1\n st32 $m0, $mvertex_base, $mzero, 2\n exitz $mzero";
  for (const std::string mode : {"", "setzi $a0, 0x80000\n uput $FP_CTL, $a0\n"}) {
    for (const std::string divisions : {"", "{ nop ; f32div $a0, $a1, $a2 }\n"}) {
      std::vector<std::uint32_t> first;
      for (const bool watched : {false, true}) {
        testing::TileRun run;
        Watcher watcher;
        if (watched) run.tile().observe(&watcher);
        run.put<std::uint32_t>(testing::kData, {7, 7, 7});
        const std::uint64_t slots = run.slots(mode + divisions + codelet);
        ASSERT_EQ(run.cause(), "none") << mode;
        const std::vector<std::uint32_t> out = run.get(testing::kData, 3);
        EXPECT_EQ(out[0], 6 * (1 + 1 + 1 + 1 + 4 + 1)) << mode;
        EXPECT_EQ(out[1], 0u);
        // Behind the first `get` come those slots and 7 more.
        const std::uint64_t begin = run.tile().launches().first_cycle + run.machine().costs.runall;
        EXPECT_EQ(out[2], begin + 6 * (slots - 9 - 7)) << mode << divisions;
        first.push_back(out[2]);
      }
      EXPECT_EQ(first[0], first[1]);
    }
  }
}

TEST(Worker, ReadsTheCycleCounterByAnInstructionThatItStored) {
  // Slot 4, from 0, has the `get`, stored over what leaves its register as it is.
  const std::uint32_t get = assemble("get $m1, $COUNT_L", "test.S").words_at(0).front();
  for (const bool watched : {false, true}) {
    testing::TileRun run;
    Watcher watcher;
    if (watched) run.tile().observe(&watcher);
    run.put<std::uint32_t>(testing::kData, {get, 7});
    run.slots(
        "ld32 $m0, $mvertex_base, $mzero, 0\n setzi $m2, 1f\n st32 $m0, $m2, $mzero, 0\n nop\n"
        "1: nop\n st32 $m1, $mvertex_base, $mzero, 1\n exitz $mzero");
    ASSERT_EQ(run.cause(), "none");
    EXPECT_EQ(run.get(testing::kData + 4, 1).front(),
              run.tile().launches().first_cycle + run.machine().costs.runall + 4 * 6);
  }
}

TEST(Bundle, BothHalvesReadBeforeEitherWrites) {
  const std::vector<std::uint32_t> out = testing::run_worker(
      "ld64 $a0:1, $mvertex_base, 0\n"
      "{ st32 $a0, $mvertex_base, $mzero, 2 ; setzi $a0, 9 }\n"
      "{ ld32 $a2, $mvertex_base, $mzero, 1 ; or $a3, $a2, $a1 }\n"
      "st64 $a2:3, $mvertex_base, 0\n exitz $mzero",
      {0x11, 0x22, 0, 0}, 4);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{0x22, 0x22, 0x11, 0}));
}

// As words, since the assembler refuses them: 0x40000500 is `rpt 5, 0`, 0x44203011 is
// `add $m1, $m2, $m3` and 0x58e0e003 is `f32v2add $a0:1, $a14:15, $a14:15`; the highest bit marks
// the halves of a bundle.
TEST(Bundle, WordsThatAreNoBundleOrRepeatBodyAreFaults) {
  EXPECT_EQ(testing::worker_cause(".int 0xc4203011, 0xd8e0e003\n exitz $mzero"), "none");
  EXPECT_EQ(testing::worker_cause(".int 0xc4203011, 0x58e0e003\n exitz $mzero"),
            "0x58e0e003 is no second half of a bundle");
  EXPECT_EQ(testing::worker_cause(".int 0xc4203011, 0xc4203011\n exitz $mzero"),
            "`add $m1, $m2, $m3` and `add $m1, $m2, $m3` are no bundle");
  EXPECT_EQ(testing::worker_cause(".int 0xd8e0e003, 0xc4203011\n exitz $mzero"),
            "`f32v2add $a0:1, $a14:15, $a14:15` and `add $m1, $m2, $m3` are no bundle");
  EXPECT_EQ(testing::worker_cause("nop\n .int 0x40000500, 0xc4203011, 0xd8e0e003\n exitz $mzero"),
            "none");
  EXPECT_EQ(testing::worker_cause(".int 0x40000500, 0xc4203011, 0xd8e0e003\n exitz $mzero"),
            "the body of `rpt` is not 8-byte aligned");
  EXPECT_EQ(testing::worker_cause("nop\n .int 0x40000500, 0x44203011, 0x58e0e003\n exitz $mzero"),
            "`add $m1, $m2, $m3` in the body of `rpt`");
  EXPECT_EQ(testing::worker_cause("nop\n .int 0x40000500\n { exitz $mzero; fnop }"),
            "`exitz $m15` in the body of `rpt`");
  // A body that is never executed must be legal too.
  EXPECT_EQ(testing::worker_cause("nop\n .int 0x40000000\n { bri 1f; fnop }\n1: exitz $mzero"),
            "`bri 0x4d010` in the body of `rpt`");
}

TEST(Bundle, BodiesOfRepeatsHoldNeitherRepeatsNorBranchesNorControlRegisters) {
  const auto in_body = [](const std::string& bundle) {
    return testing::worker_cause("nop\n .int 0x40000500\n { " + bundle +
                                 " }\n { nop; fnop }\n exitz $mzero");
  };
  EXPECT_EQ(in_body("rpt 2, 0; fnop"), "`rpt 2, 0` in the body of `rpt`");
  EXPECT_EQ(in_body("br $m0; fnop"), "`br $m0` in the body of `rpt`");
  EXPECT_EQ(in_body("brnzdec $m0, 0x4d000; fnop"), "`brnzdec $m0, 0x4d000` in the body of `rpt`");
  EXPECT_EQ(in_body("call $m0, 0x4d000; fnop"), "`call $m0, 0x4d000` in the body of `rpt`");
  EXPECT_EQ(in_body("get $m0, 1; fnop"), "`get $m0, 1` in the body of `rpt`");
  EXPECT_EQ(in_body("trap 0; fnop"), "`trap 0` in the body of `rpt`");
  EXPECT_EQ(in_body("nop; uput 1, $a0"), "`put 1, $a0` in the body of `rpt`");
  EXPECT_EQ(in_body("nop; uget $a0, 2"), "`get $a0, 2` in the body of `rpt`");
  EXPECT_EQ(in_body("nop; fnop"), "none");
}

TEST(Bundle, ABranchIntoItsMiddleIsAFault) {
  EXPECT_EQ(
      testing::worker_cause("bri 0x4d008\n { nop; f32v2add $a0:1, $a2:3, $a2:3 }\n exitz $mzero"),
      "0x43f04000 is no second half of a bundle");
  EXPECT_EQ(
      testing::worker_cause("setzi $m0, 0x4d00c\n br $m0\n { nop; f32v2add $a0:1, $a2:3, $a2:3 }\n"
                            "{ nop; fnop }\n exitz $mzero"),
      "`f32v2add $a0:1, $a2:3, $a2:3` and `nop` are no bundle");
}

TEST(Bundle, TheSupervisorHasNoneAndNoAuxiliaryPipe) {
  EXPECT_EQ(testing::supervisor_cause(".int 0xc4203011, 0xd8e0e003"), "a bundle on the supervisor");
  EXPECT_EQ(testing::supervisor_cause("f32add $a0, $a1, $a2"),
            "an instruction that the supervisor does not have");
  EXPECT_EQ(testing::supervisor_cause("nop\n rpt 5, 0\n{ nop; fnop }"),
            "an instruction that the supervisor does not have");
  EXPECT_EQ(testing::supervisor_cause(".int 0x3fffffff"), "an illegal instruction");
}

}  // namespace
}  // namespace superstep
