#include "report/common_subsequence.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace superstep {
namespace {

/// The second sequence, its elements without a pair in parentheses, where pairs are equal letters.
std::string paired(std::string_view before, std::string_view after) {
  const auto pairs = common_subsequence(
      before.size(), after.size(),
      [&](std::size_t a, std::size_t b) { return before[a] == after[b] ? 1 : 0; });
  std::string text;
  std::size_t next = 0;
  for (const auto& [a, b] : pairs) {
    EXPECT_EQ(before[a], after[b]);
    for (; next < b; ++next) text += std::string("(") + after[next] + ")";
    text += after[next++];
  }
  for (; next < after.size(); ++next) text += std::string("(") + after[next] + ")";
  return text;
}

TEST(CommonSubsequence, PairsAllButWhatIsNew) {
  EXPECT_EQ(paired("abcd", "abcd"), "abcd");
  EXPECT_EQ(paired("abcd", "xabycd"), "(x)ab(y)cd");
  EXPECT_EQ(paired("abcd", "ad"), "ad");
  EXPECT_EQ(paired("abcd", "badc"), "b(a)d(c)");
  EXPECT_EQ(paired("", "ab"), "(a)(b)");
  EXPECT_EQ(paired("ab", ""), "");
}

TEST(CommonSubsequence, KeepsWhatWasPutInTogether) {
  // Each letter of the second line's layer has a pair in the first: only neighbours tell.
  EXPECT_EQ(paired("dmd", "dmndmd"), "(d)(m)(n)dmd");
  EXPECT_EQ(paired("drdr", "drnndrnn"), "dr(n)(n)dr(n)(n)");
}

TEST(CommonSubsequence, TakesTheHeavierOfTwoThatCross) {
  const auto pairs = common_subsequence(2, 2, [](std::size_t a, std::size_t b) {
    return a == b ? 0U : a == 0 ? 3U : 1U;
  });
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0], std::pair(std::size_t{0}, std::size_t{1}));
}

}  // namespace
}  // namespace superstep
