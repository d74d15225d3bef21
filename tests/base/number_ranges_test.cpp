#include "base/number_ranges.h"

#include <gtest/gtest.h>

namespace superstep {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(NumberRanges, AreReadAscendingAndOnce) {
  EXPECT_EQ(numbers_in("17", 20), Numbers({17}));
  EXPECT_EQ(numbers_in("9,0-2,1,5-5", 20), Numbers({0, 1, 2, 5, 9}));
}

TEST(NumberRanges, RefuseWhatIsNone) {
  for (const char* text : {"", "a", "1-", "-1", "3-2", "1,,2", "1 2", "0x1", "1-2-3"}) {
    EXPECT_FALSE(numbers_in(text, 20)) << text;
  }
  EXPECT_FALSE(numbers_in("21", 20));
  EXPECT_FALSE(numbers_in("4294967296", 20));
}

TEST(NumberRanges, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(ranges_of(Numbers{}), "");
  EXPECT_EQ(ranges_of(Numbers{0, 1, 2, 5, 8, 9}), "0-2,5,8-9");
  EXPECT_EQ(numbers_in(ranges_of(Numbers{3, 4, 20}), 20), Numbers({3, 4, 20}));
}

}  // namespace
}  // namespace superstep
