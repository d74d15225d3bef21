#include "compiler/image/allocate.h"

#include <gtest/gtest.h>

namespace superstep {
namespace {

constexpr std::uint32_t kKiB = 1024;

TEST(Allocation, SharesAddressesAmongWhatDoesNotLiveAtOnce) {
  const Allocation result = allocate({{64, 0, 1}, {64, 2, 3}, {32, 1, 2}}, {{0, 256 * kKiB}});
  EXPECT_EQ(result.addresses, (std::vector<std::uint32_t>{0, 0, 64}));
  EXPECT_EQ(result.missing_bytes, 0U);
}

TEST(Allocation, KeepsWhatExchangesWriteInAnotherHalf) {
  const Allocation result = allocate({{64, 0, 1}, {64, 0, 1, true}, {32, 0, 1}}, {{0, 256 * kKiB}});
  EXPECT_EQ(result.addresses, (std::vector<std::uint32_t>{0, 128 * kKiB, 64}));
}

TEST(Allocation, UsesTheFirstHalfWhenTheOtherIsFull) {
  const Allocation result =
      allocate({{40 * kKiB, 0, 1, true}, {30 * kKiB, 0, 1, true}}, {{0, 96 * kKiB}});
  EXPECT_EQ(result.addresses, (std::vector<std::uint32_t>{32 * kKiB, 0}));
  EXPECT_EQ(result.missing_bytes, 0U);
}

TEST(Allocation, TellsWhatIsMissing) {
  const Allocation result = allocate({{64, 0, 1}, {48, 0, 1}}, {{0, 96}});
  EXPECT_EQ(result.missing_bytes, 48U);
}

// At the second point 72 of 96 are in use, and 16 and 8 free around the second request.
TEST(Allocation, TellsTheLargestGapForTheFirstRequestWithoutAPlace) {
  const Allocation result = allocate({{48, 0, 0}, {40, 0, 1}, {32, 1, 1}, {24, 1, 1}}, {{0, 96}});
  EXPECT_EQ(result.missing_bytes, 24U);
  ASSERT_TRUE(result.misfit);
  EXPECT_EQ(result.misfit->request, 3U);
  EXPECT_EQ(result.misfit->largest_gap, 16U);
  EXPECT_FALSE(allocate({{48, 0, 0}}, {{0, 96}}).misfit);
}

TEST(Allocation, PeakIsWhatLivesAtOnce) {
  EXPECT_EQ(peak_bytes({{64, 0, 1}, {16, 1, 2}, {48, 2, 3}}), 80U);
}

}  // namespace
}  // namespace superstep
