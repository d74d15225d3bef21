#include <gtest/gtest.h>

#include "isa/timing.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

TEST(Nanoseconds, AreCyclesRoundedUp) {
  MachineConfig machine = gc200();
  machine.tile.clock_hz = 1'000'000;
  EXPECT_EQ(cycles_of_ns(machine, 0), Cycles(0));
  EXPECT_EQ(cycles_of_ns(machine, 1), Cycles(1));
  EXPECT_EQ(cycles_of_ns(machine, 1'000), Cycles(1));
  EXPECT_EQ(cycles_of_ns(machine, 1'001), Cycles(2));
}

TEST(Nanoseconds, AreExactAtTheFastestClock) {
  MachineConfig machine = gc200();
  machine.tile.clock_hz = 100'000'000'000;
  EXPECT_EQ(cycles_of_ns(machine, 500'000'000), Cycles(50'000'000'000));
  EXPECT_EQ(cycles_of_ns(machine, 999'999'999), Cycles(99'999'999'900));
  EXPECT_EQ(cycles_of_ns(machine, 1'000'000'000), Cycles(100'000'000'000));
}

}  // namespace
}  // namespace superstep
