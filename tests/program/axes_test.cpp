#include "compiler/program/axes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace superstep {
namespace {

TEST(Axes, ChangeAsAVectorDoes) {
  std::mt19937 engine(1);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(engine()) % limit; };
  Axes axes;
  std::vector<Axis> expected;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const Axis axis{i, -i, 2 * i};
    const std::size_t at = below(expected.size() + 1);
    const auto place = static_cast<std::ptrdiff_t>(at);
    switch (below(5)) {
      case 0:
        axes.push_back(axis);
        expected.push_back(axis);
        break;
      case 1:
        axes.insert(axes.begin() + at, axis);
        expected.insert(expected.begin() + place, axis);
        break;
      case 2: {
        const Axes more = {{1, 2, 3}, axis};
        axes.insert(axes.begin() + at, more.begin(), more.end());
        expected.insert(expected.begin() + place, more.begin(), more.end());
        break;
      }
      case 3:
        axes.erase(axes.begin() + at, axes.end());
        expected.erase(expected.begin() + place, expected.end());
        break;
      default:
        if (expected.empty()) break;
        axes.erase(axes.begin() + at / 2);
        expected.erase(expected.begin() + place / 2);
    }
    const Axes copy = axes;
    ASSERT_EQ(std::vector<Axis>(copy.begin(), copy.end()), expected) << "after change " << i;
    ASSERT_EQ(copy, Axes(expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace superstep
