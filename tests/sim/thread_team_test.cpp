#include "sim/thread_team.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace superstep {
namespace {

TEST(ThreadTeam, GoesThroughEachIndexOnceInEveryRange) {
  for (const std::uint32_t threads : {0U, 1U, 2U, 5U}) {
    ThreadTeam team(threads);
    for (std::size_t count = 0; count < 300; ++count) {
      std::vector<int> visits(count);
      team.each_index(count, 1 + count % 7, [&](std::size_t i) { ++visits[i]; });
      EXPECT_EQ(visits, std::vector<int>(count, 1)) << threads << " threads";
    }
  }
}

TEST(ThreadTeam, SeesInOneRangeWhatTheRangeBeforeWrote) {
  constexpr std::size_t kCount = 1000;
  ThreadTeam team(4);
  std::vector<std::size_t> values(kCount), mirrored(kCount);
  for (std::size_t round = 0; round < 200; ++round) {
    team.each_index(kCount, 3, [&](std::size_t i) { values[i] = round + i; });
    team.each_index(kCount, 5, [&](std::size_t i) { mirrored[i] = values[kCount - 1 - i]; });
    ASSERT_EQ(mirrored[0], round + kCount - 1);
    ASSERT_EQ(mirrored[kCount - 1], round);
  }
}

TEST(ThreadTeam, ThrowsWhatTheEarliestIndexThrewAndGoesOn) {
  ThreadTeam team(3);
  for (int round = 0; round < 50; ++round) {
    std::string message;
    try {
      team.each_index(100, 1, [](std::size_t i) {
        if (i == 30 || i == 99) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "30");
  }
  std::vector<int> visits(100);
  team.each_index(visits.size(), 1, [&](std::size_t i) { ++visits[i]; });
  EXPECT_EQ(visits, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace superstep
