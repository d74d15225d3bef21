#include "base/each_index.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace superstep {
namespace {

using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;

/// What `loop` gives its body, in order.
template <class Loop>
Ranges ranges_given(int threads, const Loop& loop) {
  Ranges ranges;
  std::mutex adding;
  tbb::task_arena(threads).execute([&] {
    loop([&](std::size_t begin, std::size_t end) {
      const std::scoped_lock lock(adding);
      ranges.emplace_back(begin, end);
    });
  });
  std::ranges::sort(ranges);
  return ranges;
}

TEST(EachRange, RangesMakeUpTheWholeAndAreNoLongerThanAsked) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 8U, 9U, 64U, 1472U}) {
      for (const std::size_t grain : {1U, 5U, 8U, 100U}) {
        const Ranges ranges =
            ranges_given(threads, [&](const auto& body) { each_range(count, grain, body); });
        std::size_t end = 0;
        for (const auto& [first, last] : ranges) {
          EXPECT_EQ(first, end);
          EXPECT_LT(first, last);
          EXPECT_LE(last - first, threads == 1 ? count : grain);
          end = last;
        }
        EXPECT_EQ(end, count) << threads << " threads, ranges of " << grain;
      }
    }
  }
}

TEST(EachPart, IsOneRangeAThread) {
  EXPECT_EQ(ranges_given(4, [](const auto& body) { each_part(10, 1, body); }),
            (Ranges{{0, 2}, {2, 5}, {5, 7}, {7, 10}}));
  // Fewer than are worth another thread.
  EXPECT_EQ(ranges_given(4, [](const auto& body) { each_part(10, 10, body); }), (Ranges{{0, 10}}));
}

TEST(EachIndex, WhatWasDoneIsSeenBehindTheLoop) {
  std::vector<int> squares(1000);
  tbb::task_arena(4).execute([&] {
    each_index(squares.size(), 3, [&](std::size_t i) { squares[i] = static_cast<int>(i * i); });
  });
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
}

TEST(EachIndex, WhatABodyThrowsReachesTheCaller) {
  tbb::task_arena arena(3);
  const auto run = [&] {
    arena.execute([&] {
      each_index(100, 1, [](std::size_t i) {
        if (i == 57) throw std::runtime_error("57");
      });
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

}  // namespace
}  // namespace superstep
