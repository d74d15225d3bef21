#include "compiler/program/box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

namespace superstep {
namespace {

/// Destinations and the sources that a box copies to them.
std::map<std::int64_t, std::int64_t> copies_of(const Box& box) {
  std::map<std::int64_t, std::int64_t> copies;
  for_each_index(box.axes, box.from, box.to,
                 [&](std::int64_t from, std::int64_t to) { copies[to] = from; });
  return copies;
}

void expect_composed(const Box& composed, const Box& outer, const Box& inner) {
  const std::map<std::int64_t, std::int64_t> of_inner = copies_of(inner);
  std::map<std::int64_t, std::int64_t> expected;
  for (const auto& [to, from] : copies_of(outer)) expected[to] = of_inner.at(from);
  EXPECT_EQ(copies_of(composed), expected);
}

TEST(ComposedBoxes, CopyWhatBothDoAfterEachOther) {
  std::mt19937 engine(7);
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine);
  };
  std::size_t done = 0;
  for (int round = 0; round < 3000; ++round) {
    Box inner;
    inner.from = number(0, 9);
    std::int64_t elements = 1;
    for (std::int64_t d = number(1, 4); d > 0; --d) {
      const std::int64_t size = number(1, 5);
      inner.axes.insert(inner.axes.begin(), {size, number(-3, 40), elements});
      elements *= size;
    }
    Box outer;
    std::int64_t last = 0, to = 1;
    for (std::int64_t d = number(1, 3); d > 0 && elements - last > 1; --d) {
      const std::int64_t step = number(0, elements - 1 - last);
      const std::int64_t most = step == 0 ? 4 : 1 + (elements - 1 - last) / step;
      const std::int64_t size = number(1, std::min<std::int64_t>(most, 6));
      outer.axes.insert(outer.axes.begin(), {size, step, to});
      last += step * (size - 1);
      to *= size;
    }
    outer.from = number(0, elements - 1 - last);
    if (!outer.axes.empty() && number(0, 2) == 0) {
      Axis& axis = outer.axes.front();
      outer.from += axis.from * (axis.size - 1);
      axis.from = -axis.from;
    }
    Box composed;
    if (!compose(outer, inner, composed)) continue;
    ++done;
    expect_composed(composed, outer, inner);
  }
  EXPECT_GT(done, 1000U);
}

TEST(ComposedBoxes, TakeWholeRowsOfAWindowAsAnAxisOfTheirOwn) {
  // Rows of 3 of 5 columns, read as columns of 4 x 3 elements in threes.
  const Box inner{1, 0, {{4, 5, 3}, {3, 1, 1}}};
  const Box outer{0, 0, {{12, 1, 10}}};
  Box composed;
  ASSERT_TRUE(compose(outer, inner, composed));
  expect_composed(composed, outer, inner);
}

TEST(ComposedBoxes, AreNotMadeOfRowsThatBeginInTheMiddle) {
  const Box inner{1, 0, {{4, 5, 3}, {3, 1, 1}}};
  Box composed;
  EXPECT_FALSE(compose({1, 0, {{6, 1, 1}}}, inner, composed));
}

}  // namespace
}  // namespace superstep
