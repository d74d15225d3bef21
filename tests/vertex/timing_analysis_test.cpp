#include "compiler/vertex/timing_analysis.h"

#include <gtest/gtest.h>

#include "toolchain/assembler.h"
#include "tests/gc200.h"

namespace superstep::vertex {
namespace {

constexpr std::uint32_t kState = 0x78000;

WorkerTiming timing_of(std::string_view text, const std::vector<std::uint32_t>& state = {}) {
  const Assembly assembly = assemble(text, "test");
  Codelet codelet;
  codelet.words = assembly.words;
  codelet.relocations = assembly.relocations;
  return TimingAnalysis(gc200(), codelet).worker(state, kState, kState);
}

TEST(TimingAnalysis, ABundleIsOneSlotAndADivisionAsManyAsTheMachineSays) {
  const std::uint64_t division = gc200().costs.f32div;
  EXPECT_EQ(timing_of("{ nop ; f32div $a0, $a1, $a2 }\nf32div $a0, $a1, $a2\nexitz $mzero").slots,
            2 * division + 1);
}

TEST(TimingAnalysis, RepeatsTakeTheirCountFromTheState) {
  const char* text = R"(
    ld32 $m0, $mvertex_base, $mzero, 1
    rpt $m0, 1
    { ld32step $a0, $mzero, $m1+=, 1 ; fnop }
    { nop ; f32exp $a0, $a0 }
    exitz $mzero)";
  const std::uint64_t body = 1 + gc200().costs.f32exp;
  EXPECT_EQ(timing_of(text, {7, 0}).slots, 3);
  EXPECT_EQ(timing_of(text, {7, 1000}).slots, 3 + 1000 * body);
}

// As many turns as no test can wait for.
TEST(TimingAnalysis, EqualTurnsOfNestedLoopsAreCountedTogether) {
  const WorkerTiming timing = timing_of(R"(
    ld32 $m0, $mvertex_base, $mzero, 0
    outer:
    ld32 $m1, $mvertex_base, $mzero, 1
    inner:
    add $m2, $m2, 4
    brnzdec $m1, inner
    add $m3, $m3, 4
    brnzdec $m0, outer
    exitz $mzero)",
                                        {0xffff0, 0x7ffff});
  EXPECT_EQ(timing.slots, 1 + std::uint64_t{0xffff1} * (1 + std::uint64_t{0x80000} * 2 + 2) + 1);
  EXPECT_FALSE(timing.depends_on_data);
}

// A counter inside that starts again every third turn, and one that ends in the middle.
TEST(TimingAnalysis, TurnsThatTakeAnotherWayAreCountedEach) {
  const char* text = R"(
    ld32 $m0, $mvertex_base, $mzero, 0
    ld32 $m1, $mvertex_base, $mzero, 1
    ld32 $m2, $mvertex_base, $mzero, 2
    again:
    brnzdec $m1, same
    ld32 $m1, $mvertex_base, $mzero, 1
    add $m4, $m4, 4
    same:
    brnzdec $m2, more
    nop
    more:
    brnzdec $m0, again
    exitz $mzero)";
  for (const std::uint32_t turns : {1U, 2U, 3U, 7U, 100U, 1001U}) {
    for (const std::uint32_t period : {1U, 2U, 3U, 64U}) {
      const std::uint64_t wraps = turns / period, late = turns > 50 ? turns - 50 : 0;
      EXPECT_EQ(timing_of(text, {turns - 1, period - 1, 50}).slots,
                3 + 3 * turns + 2 * wraps + late + 1)
          << turns << " turns, period " << period;
    }
  }
}

// The second loop's count is an address that the first one stepped by the word.
TEST(TimingAnalysis, WhatALoopStepsIsNotTakenForWhatItWas) {
  const WorkerTiming timing = timing_of(R"(
    setzi $m0, 9
    setzi $m1, 0
    first:
    add $m1, $m1, 1
    brnzdec $m0, first
    second:
    brnzdec $m1, second
    exitz $mzero)");
  EXPECT_TRUE(timing.depends_on_data || timing.slots == 2 + 20 + 11 + 1);
}

TEST(TimingAnalysis, BranchesOnDataAreSaidAndNotTaken) {
  const WorkerTiming timing = timing_of(R"(
    ld32 $m0, $mvertex_base, $mzero, 0
    ld32 $m1, $m0, $mzero, 0
    brz $m1, done
    nop
    done: exitz $mzero)",
                                        {0x80000});
  EXPECT_TRUE(timing.depends_on_data);
  EXPECT_EQ(timing.slots, 5U);
}

TEST(TimingAnalysis, BranchesOnDataPastACallAreTaken) {
  const WorkerTiming timing = timing_of(R"(
    ld32 $m0, $mvertex_base, $mzero, 0
    ld32 $m1, $m0, $mzero, 0
    brz $m1, done
    call $m10, function
    done: exitz $mzero
    function: br $m10)",
                                        {0x80000});
  EXPECT_TRUE(timing.depends_on_data);
  EXPECT_EQ(timing.slots, 4U);
}

TEST(TimingAnalysis, WordsOfTheStackAreKnown) {
  const WorkerTiming timing = timing_of(R"(
    ld32 $m0, $mvertex_base, $mzero, 0
    st32 $m0, $mworker_base, $mzero, 2
    st32 $a0, $mworker_base, $mzero, 3
    zero $m0
    ld32 $m0, $mworker_base, $mzero, 2
    again: brnzdec $m0, again
    exitz $mzero)",
                                        {5});
  EXPECT_FALSE(timing.depends_on_data);
  EXPECT_EQ(timing.slots, 5 + 6 + 1U);
}

TEST(TimingAnalysis, SubroutinesComeBack) {
  EXPECT_EQ(timing_of(R"(
    call $m10, twice
    call $m10, twice
    exitz $mzero
    twice: nop
    br $m10)")
                .slots,
            7U);
}

TEST(TimingAnalysis, TheLastWorkerEndsALaunch) {
  const MachineConfig machine = gc200();
  const std::vector<WorkerTiming> workers{{.slots = 10}, {.slots = 12}, {.slots = 3}};
  EXPECT_EQ(launch_cycles(machine, workers), machine.costs.runall + 1 + 12 * machine.tile.workers);
}

}  // namespace
}  // namespace superstep::vertex
