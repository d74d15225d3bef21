#include "compiler/schedule/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace superstep {
namespace {

TEST(NumberOrder, SortsBySeveralKeysAsAStableSortOfTuplesDoes) {
  std::mt19937 engine(1);
  for (const std::size_t count : {0U, 1U, 2U, 5000U}) {
    std::vector<std::uint32_t> few(count), wide(count), late(count);
    for (std::size_t i = 0; i < count; ++i) {
      few[i] = static_cast<std::uint32_t>(engine() % 3);
      wide[i] = static_cast<std::uint32_t>(engine()) & ~0xfffU;  // with equal ones
      late[i] = ~static_cast<std::uint32_t>(engine() % 100);
    }
    NumberOrder order(count);
    order.sort_by([&](std::uint32_t i) { return few[i]; }, [&](std::uint32_t i) { return late[i]; },
                  [&](std::uint32_t i) { return wide[i]; });
    std::vector<std::uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, {},
                             [&](std::uint32_t i) { return std::tuple(few[i], late[i], wide[i]); });
    EXPECT_EQ(order.numbers(), expected);
  }
}

}  // namespace
}  // namespace superstep
