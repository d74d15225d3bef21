#include <gtest/gtest.h>

#include "tests/tile_run.h"

namespace superstep::testing {
namespace {

/// The cause of the trap of `instruction`, which issues `delay` cycles and one behind a launch, or
/// `none`.
std::string cause_beside_worker(const std::string& instruction, std::uint32_t delay) {
  TileRun run;
  run.load(kCodelet, "nop\n nop\n nop\n exitz $mzero");
  run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n setzi $m2, 4\n setzi $m3, 0x50000\n"
      "put 80, $m3\n nop\n nop\n nop\n nop\n run $m0, $m1, 0\n" +
      (delay == 0 ? std::string() : "delay " + std::to_string(delay - 1) + "\n") + instruction +
      "\n sync 2\n sync 15");
  return run.cause();
}

/// The last delay with which it faults; -1 when it never does.
int last_fault(const std::string& instruction) {
  int last = -1;
  for (int delay = 0; delay < 60; ++delay) {
    if (cause_beside_worker(instruction, static_cast<std::uint32_t>(delay)) != "none") last = delay;
  }
  return last;
}

TEST(BesideWorkers, WhatCannotBeExactIsATrapUntilTheCycleInWhichTheLastHasLeft) {
  // The worker has left 30 cycles behind its launch: four slots of six cycles, six cycles later.
  for (const char* instruction :
       {"send 0, 0x14000, 3", "delayxpic 0, 0, 5", "ld64putcs 0", "put 2, $m2"}) {
    EXPECT_NE(cause_beside_worker(instruction, 0).find("while workers are running"),
              std::string::npos)
        << instruction;
    EXPECT_EQ(last_fault(instruction), 28) << instruction;
  }
}

TEST(BesideWorkers, ControlsThatReceiveNothingAreNone) {
  for (const char* instruction :
       {"delayxpic 0, 0, 0x640", "delaypic 0, 0, 0x14000", "put 2, $m15"}) {
    EXPECT_EQ(last_fault(instruction), -1) << instruction;
  }
}

}  // namespace
}  // namespace superstep::testing
