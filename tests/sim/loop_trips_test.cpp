#include "sim/tile/loop_trips.h"

#include <gtest/gtest.h>

namespace superstep {
namespace {

using Counts = LoopTrips::Counts;

/// A loop of step 2 around those of steps 4 and 7.
LoopTrips nested() {
  LoopTrips trips;
  trips.mark({{0x100, 4}, {0x200, 7}, {0x300, 2}});
  return trips;
}

TEST(LoopTrips, OfInnerLoopsBeginAnewWithEachOfTheLoopAround) {
  LoopTrips trips = nested();
  for (const std::uint32_t pc : {0x100U, 0x100U, 0x200U, 0x104U}) trips.branch(pc, 0);
  EXPECT_EQ(trips.counts(), (Counts{{4, 2}, {7, 1}}));
  trips.branch(0x300, 0);
  EXPECT_EQ(trips.counts(), (Counts{{2, 1}}));
  trips.branch(0x200, 0);
  EXPECT_EQ(trips.counts(), (Counts{{2, 1}, {7, 1}}));
  EXPECT_EQ(trips.all(), 5U);
}

TEST(LoopTrips, AreCountedFromTheStepOfACallAndBeginAnewWithIt) {
  LoopTrips trips = nested();
  trips.branch(0x100, 10);
  EXPECT_EQ(trips.counts(), (Counts{{14, 1}}));
  trips.call(10);
  EXPECT_TRUE(trips.counts().empty());
}

TEST(LoopTrips, AreTooManyOnlyWithoutASync) {
  LoopTrips trips = nested();
  trips.limit(2);
  trips.branch(0x100, 0);
  trips.branch(0x100, 0);
  trips.sync();
  trips.branch(0x100, 0);
  trips.branch(0x100, 0);
  EXPECT_FALSE(trips.is_past_limit());
  trips.branch(0x200, 0);
  EXPECT_TRUE(trips.is_past_limit());
  EXPECT_EQ(trips.last(), 7U);
}

}  // namespace
}  // namespace superstep
