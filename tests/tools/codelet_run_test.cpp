#include "tools/codelet_run.h"

#include <gtest/gtest.h>

#include "toolchain/assembler.h"
#include "sim/tile/slot_counter.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

constexpr std::uint32_t kCode = 0x4d000, kData = 0x50000;
const CodeletOptions kInTurn{.take_turns = true};

/// A tile with one piece of code at kCode.
class Called {
 public:
  explicit Called(const std::string& text, CodeletOptions options = {})
      : run(gc200(), std::move(options)) {
    const std::vector<std::uint32_t> words = assemble(text, "test.S").words_at(kCode);
    EXPECT_TRUE(run.write(kCode, std::as_bytes(std::span(words))));
  }
  std::uint32_t word(std::uint32_t address) {
    std::uint32_t value = 0;
    EXPECT_TRUE(run.read(address, std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }

  CodeletRun run;
};

/// Stores its number at $mvertex_base + 4 x number.
constexpr const char* kStoreId =
    "get $m0, $WSR\n and $m0, $m0, 7\n shl $m1, $m0, 2\n st32 $m0, $mvertex_base, $m1, 0\n exitz "
    "$mzero";

TEST(CodeletRun, AWorkerRunsAloneOnItsState) {
  Called called("setzi $m0, 7\n st32 $m0, $mvertex_base, $mzero, 1\n exitz $mzero");
  const CodeletCost cost = called.run.call(CodeletKind::kWorker, kCode, kData);
  EXPECT_FALSE(called.run.fault());
  EXPECT_EQ(called.word(kData + 4), 7U);
  EXPECT_EQ(cost.worker_slots, (std::vector<std::uint64_t>{3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cost.worker_instructions.all, 3U);
  EXPECT_EQ(cost.slowest_worker_clocks(), 18U);
  // setzi and its latency 6, run 6, 3 slots of 6, sync 1, branch 6.
  EXPECT_EQ(cost.cycles, 6U + 6 + 18 + 1 + 6);
}

TEST(CodeletRun, EveryWorkerRunsAMultiVertex) {
  Called called(kStoreId);
  const CodeletCost cost = called.run.call(CodeletKind::kMultiVertex, kCode, kData);
  EXPECT_FALSE(called.run.fault());
  for (std::uint32_t w = 0; w < 6; ++w) EXPECT_EQ(called.word(kData + 4 * w), w);
  EXPECT_EQ(cost.worker_slots, (std::vector<std::uint64_t>(6, 5)));
  // The last worker begins 5 cycles after the first.
  EXPECT_EQ(cost.cycles, 6U + 6 + 5 + 30 + 1 + 6);
}

TEST(CodeletRun, ASupervisorFunctionGetsItsStateAndAStack) {
  Called called("st32 $lr, $sp, $mzero, 0\n st32 $sp, $m0, $mzero, 0\n ld32 $lr, $sp, 0\n br $lr");
  called.run.set_fp_control(0);
  Called plain("br $lr");
  EXPECT_EQ(plain.run.call(CodeletKind::kSupervisor, kCode, kData).cycles, 6U);
  const CodeletCost cost = called.run.call(CodeletKind::kSupervisor, kCode, kData);
  ASSERT_FALSE(called.run.fault()) << called.run.fault()->cause;
  EXPECT_EQ(called.word(kData) % 8, 0U);
  EXPECT_GE(called.word(kData), called.run.free_end());
  // Two stores, a load whose result takes 6, a branch of 6.
  EXPECT_EQ(cost.cycles, 2U + 6 + 6);
  EXPECT_EQ(cost.worker_instructions.all, 0U);
}

TEST(CodeletRun, ASupervisorFunctionMayLaunchWorkersOnItsStack) {
  const std::string launch =
      "add $sp, $sp, -32\n setzi $m1, worker\nrunall $m1, $sp, 0\n sync 2\n ld32 $m2, $sp, 5\n"
      "st32 $m2, $m0, $mzero, 0\n add $sp, $sp, 32\n br $lr\nworker:\n";
  Called called(launch + kStoreId);
  const CodeletCost cost = called.run.call(CodeletKind::kSupervisor, kCode, kData);
  ASSERT_FALSE(called.run.fault()) << called.run.fault()->cause;
  EXPECT_EQ(called.word(kData), 5U);
  EXPECT_EQ(cost.worker_slots, (std::vector<std::uint64_t>(6, 5)));
}

TEST(CodeletRun, CallsFollowEachOtherOnOneTile) {
  Called called(
      "ld32 $m0, $mvertex_base, 0\n add $m0, $m0, 1\n"
      "st32 $m0, $mvertex_base, $mzero, 0\n exitz $mzero");
  const CodeletCost first = called.run.call(CodeletKind::kWorker, kCode, kData);
  const CodeletCost second = called.run.call(CodeletKind::kWorker, kCode, kData);
  EXPECT_EQ(called.word(kData), 2U);
  EXPECT_EQ(first.cycles, second.cycles);
  EXPECT_EQ(second.worker_slots[0], 4U);
}

TEST(CodeletRun, AFaultIsDatedFromTheFirstInstruction) {
  Called called("nop\n ld32 $m0, $mzero, 0\n exitz $mzero");
  (void)called.run.call(CodeletKind::kWorker, kCode, kData);
  ASSERT_TRUE(called.run.fault());
  EXPECT_EQ(called.run.fault()->context, "worker 0");
  EXPECT_EQ(called.run.fault()->pc, kCode + 4);
  EXPECT_EQ(called.run.fault()->cycle, Cycles(6 + 6 + 6));
  EXPECT_EQ(called.run.fault()->cause, "an address outside the tile's memory, 0x0");
}

/// Worker `setter` sets a flag, for which the others wait.
std::string wait_for(const std::string& setter) {
  return "get $m0, $WSR\n and $m0, $m0, 7\n cmpeq $m1, $m0, " + setter +
         "\n brz $m1, wait\n st32 $m1, $mvertex_base, $mzero, 0\n exitz $mzero\n"
         "wait: ld32 $m2, $mvertex_base, $mzero, 0\n brz $m2, wait\n exitz $mzero";
}

TEST(CodeletRun, WorkersThatTakeTurnsWaitForOneAnother) {
  Called last(wait_for("5"), kInTurn);
  const CodeletCost cost = last.run.call(CodeletKind::kMultiVertex, kCode, kData);
  ASSERT_FALSE(last.run.fault());
  // The flag is set in the clock after those in which the others look at it for the first time.
  EXPECT_EQ(cost.worker_slots, (std::vector<std::uint64_t>{9, 9, 9, 9, 9, 6}));
  EXPECT_EQ(cost.worker_instructions.all, 51U);

  Called first(wait_for("0"), kInTurn);
  EXPECT_EQ(first.run.call(CodeletKind::kMultiVertex, kCode, kData).worker_slots,
            (std::vector<std::uint64_t>{6, 7, 7, 7, 7, 7}));
}

TEST(CodeletRun, TurnsChangeNothingForWorkersThatShareNothing) {
  // Worker w stores w + 2 pairs of words, and none, at 256 w.
  const std::string stores =
      ".align 8\n get $m0, $WSR\n and $m0, $m0, 7\n shl $m1, $m0, 8\n add $m1, $m1, $mvertex_base\n"
      "add $m2, $m0, 2\n rpt $m2, 1\n {st32step $m0, $mzero, $m1+=, 1 ; fnop}\n"
      "{st32step $m2, $mzero, $m1+=, 1 ; fnop}\n nop\n rpt $mzero, 0\n"
      "{st32step $m2, $mzero, $m1+=, 1 ; fnop}\n exitz $mzero";
  Called alone(stores), in_turn(stores, kInTurn);
  const CodeletCost expected = alone.run.call(CodeletKind::kMultiVertex, kCode, kData);
  const CodeletCost found = in_turn.run.call(CodeletKind::kMultiVertex, kCode, kData);
  ASSERT_FALSE(alone.run.fault()) << alone.run.fault()->cause;
  ASSERT_FALSE(in_turn.run.fault()) << in_turn.run.fault()->cause;
  EXPECT_EQ(found.worker_slots, expected.worker_slots);
  EXPECT_EQ(found.worker_instructions, expected.worker_instructions);
  EXPECT_EQ(found.cycles, expected.cycles);
  for (std::uint32_t word = kData; word < kData + 6 * 256; word += 4) {
    EXPECT_EQ(in_turn.word(word), alone.word(word));
  }
}

TEST(CodeletRun, AFaultOfAWorkerThatTakesTurnsHasItsClock) {
  // Worker w comes to a misaligned address after 4 + w turns.
  const std::string fault =
      ".align 8\n get $m0, $WSR\n and $m0, $m0, 7\n add $m2, $m0, 4\n mov $m1, $mvertex_base\n"
      "nop\n rpt $m2, 0\n {ld32step $mzero, $mzero, $m1+=, 1 ; fnop}\n ld32 $m3, $m1, $mzero, 0\n"
      "add $m1, $m1, 2\n ld32 $m3, $m1, $mzero, 0\n exitz $mzero";
  Called alone(fault), in_turn(fault, kInTurn);
  (void)alone.run.call(CodeletKind::kMultiVertex, kCode, kData);
  (void)in_turn.run.call(CodeletKind::kMultiVertex, kCode, kData);
  ASSERT_TRUE(alone.run.fault() && in_turn.run.fault());
  EXPECT_EQ(in_turn.run.fault()->context, "worker 0");
  EXPECT_EQ(in_turn.run.fault()->cause, alone.run.fault()->cause);
  EXPECT_EQ(in_turn.run.fault()->cycle, alone.run.fault()->cycle);
  EXPECT_EQ(in_turn.run.fault()->pc, alone.run.fault()->pc);
}

TEST(CodeletRun, AnEndlessLoopCanBeStoppedEvenWhenItsBranchIsIndirect) {
  for (const char* loop : {"setzi $m0, 0x4d000\n br $m0", "1: nop\n bri 1b"}) {
    Called called(loop, {.interrupted = [] { return true; }});
    (void)called.run.call(CodeletKind::kWorker, kCode, kData);
    ASSERT_TRUE(called.run.fault());
    EXPECT_EQ(called.run.fault()->cause, "interrupted from outside");
  }
}

TEST(CodeletRun, WorkersThatWaitForeverCanBeStopped) {
  Called called("1: ld32 $m0, $mvertex_base, $mzero, 0\n brz $m0, 1b\n exitz $mzero",
                {.take_turns = true, .interrupted = [] { return true; }});
  (void)called.run.call(CodeletKind::kMultiVertex, kCode, kData);
  ASSERT_TRUE(called.run.fault());
  EXPECT_EQ(called.run.fault()->cause, "interrupted from outside");
}

TEST(CodeletRun, ASyncOfTheUsersIsAFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"sync 3\n br $lr", "a sync with tiles that are not there"},
      {"sync 4\n br $lr", "a sync with a host that is not there"},
      {"sync 9\n br $lr", "sync zone 9 is not modelled"},
  };
  for (const auto& [text, cause] : cases) {
    Called called(text);
    (void)called.run.call(CodeletKind::kSupervisor, kCode, kData);
    ASSERT_TRUE(called.run.fault()) << text;
    EXPECT_TRUE(called.run.fault()->cause.starts_with(cause)) << called.run.fault()->cause;
  }
}

TEST(CodeletRun, AnObserverSeesEverySlotOfTheCallAndChangesNothing) {
  const std::string text =
      "ld32 $m1, $mvertex_base, 0\n setzi $a0, 0x40000\n f32exp $a1, $a0\n"
      "nop\n nop\n rpt 3, 0\n { nop ; f32v2add $a2:3, $a2:3, $a2:3 }\n exitz $mzero";
  Called alone(text), seen(text);
  SlotCounter counter(seen.run.machine());
  seen.run.observe(&counter);
  const CodeletCost plain = alone.run.call(CodeletKind::kMultiVertex, kCode, kData);
  const CodeletCost cost = seen.run.call(CodeletKind::kMultiVertex, kCode, kData);
  EXPECT_EQ(cost.cycles, plain.cycles);
  EXPECT_EQ(cost.worker_slots, plain.worker_slots);
  EXPECT_EQ(cost.worker_instructions, plain.worker_instructions);
  for (std::uint32_t w = 0; w < 6; ++w) {
    const SlotCounts& counts = counter.worker(w);
    EXPECT_EQ(counts.total(), cost.worker_slots[w]);
    EXPECT_EQ(counts.main_only, 5U);
    EXPECT_EQ(counts.aux_only, 2U);
    EXPECT_EQ(counts.bundles, 3U);
    EXPECT_EQ(counts.extra_slots, 2U);  // of f32exp
    EXPECT_EQ(counts.instructions * 6, cost.worker_instructions.all);
  }
  const SlotCounts& supervisor = counter.supervisor();
  EXPECT_EQ(supervisor.total(), cost.cycles);
  EXPECT_EQ(supervisor.main_only, 4U);
  EXPECT_EQ(supervisor.register_wait, 5U);
  EXPECT_EQ(supervisor.branch_wait, 5U);
}

}  // namespace
}  // namespace superstep
