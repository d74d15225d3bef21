#include "compiler/image/allocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

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

/// First fit in one range by looking at every block, the largest request first.
std::vector<std::uint32_t> first_fit(const std::vector<StorageRequest>& requests) {
  std::vector<std::size_t> order(requests.size()), placed;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return requests[i].bytes; });
  std::vector<std::uint32_t> addresses(requests.size());
  for (const std::size_t i : order) {
    std::uint32_t at = 0;
    for (const std::size_t j : placed) {
      const bool meets =
          requests[j].first <= requests[i].last && requests[i].first <= requests[j].last;
      if (!meets || addresses[j] + requests[j].bytes <= at) continue;
      if (addresses[j] >= at + requests[i].bytes) break;
      at = addresses[j] + requests[j].bytes;
    }
    addresses[i] = at;
    placed.insert(std::ranges::upper_bound(placed, at, {}, [&](auto j) { return addresses[j]; }),
                  i);
  }
  return addresses;
}

TEST(Allocation, IsFirstFitWhateverLivesWhen) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t points = 1 + below(40), sizes = 1 + below(12);
    std::vector<StorageRequest> requests(below(120));
    for (StorageRequest& request : requests) {
      request.bytes = 8 * (1 + below(sizes));
      request.first = below(points);
      request.last = below(3) == 0 ? points : request.first + below(4);
    }
    const Allocation result = allocate(requests, {{0, 1024 * kKiB}});
    ASSERT_EQ(result.addresses, first_fit(requests)) << "round " << round;
    ASSERT_EQ(result.missing_bytes, 0U);
  }
}

TEST(Allocation, FindsTheLargestGapAmongManyBlocks) {
  // At point 1 every other block of 64 is free, and once two neighbours are.
  std::vector<StorageRequest> requests;
  for (int i = 0; i < 100; ++i) {
    if (i != 70) requests.push_back({64, 0, 2, false, 0});
    requests.push_back({64, 0, 0, false, 0});
  }
  requests.push_back({136, 1, 1});
  const Allocation result = allocate(requests, {{0, 199 * 64}});
  ASSERT_TRUE(result.misfit);
  EXPECT_EQ(result.misfit->request, requests.size() - 1);
  EXPECT_EQ(result.misfit->largest_gap, 128U);
}

// A scan of what lies below each of them would take 2e10 steps.
TEST(Allocation, PlacesManyRequests) {
  constexpr std::uint32_t kMany = 200'000;
  std::vector<StorageRequest> requests;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    requests.push_back({8, 0, kMany});      // an argument
    requests.push_back({8, i, 2 * kMany});  // kept until the end
  }
  const Allocation result = allocate(requests, {{0, 0xfffffff8}});
  EXPECT_EQ(result.missing_bytes, 0U);
  EXPECT_EQ(*std::ranges::max_element(result.addresses), 8 * (2 * kMany - 1));
}

TEST(Allocation, PeakIsWhatLivesAtOnce) {
  EXPECT_EQ(peak_bytes({{64, 0, 1}, {16, 1, 2}, {48, 2, 3}}), 80U);
}

}  // namespace
}  // namespace superstep
