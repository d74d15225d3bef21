#include "compiler/image/allocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
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
  const Allocation result =
      allocate({{64, 0, 1}, {64, 0, 1, true}, {32, 0, 1}}, {{0, 256 * kKiB, 128 * kKiB}});
  EXPECT_EQ(result.addresses, (std::vector<std::uint32_t>{0, 128 * kKiB, 64}));
}

TEST(Allocation, UsesTheFirstHalfWhenTheOtherIsFull) {
  const Allocation result =
      allocate({{40 * kKiB, 0, 1, true}, {30 * kKiB, 0, 1, true}}, {{0, 96 * kKiB, 32 * kKiB}});
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

/// Bytes that the best of all placements takes: every placement can be pressed down, in the order
/// of its addresses, to one in which each request lies as low as those before it let it.
std::uint32_t least_bytes(const std::vector<StorageRequest>& requests) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  do {
    std::vector<std::uint32_t> ends(requests.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const StorageRequest& request = requests[order[i]];
      std::uint32_t at = 0;
      for (std::size_t j = 0; j < i; ++j) {
        const StorageRequest& below = requests[order[j]];
        const bool meets = below.first <= request.last && request.first <= below.last;
        if (meets) at = std::max(at, ends[j]);
      }
      ends[i] = at + request.bytes;
    }
    least = std::min(least, *std::ranges::max_element(ends));
  } while (std::ranges::next_permutation(order).found);
  return least;
}

// First fit decreasing has no constant bound; of these cases none is further off.
TEST(Allocation, IsNearTheBestPlacementOfAFewRequests) {
  std::mt19937 random(2);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::uint32_t best_cases = 0;
  constexpr std::uint32_t kCases = 400;
  for (std::uint32_t c = 0; c < kCases; ++c) {
    std::vector<StorageRequest> requests(2 + below(6));
    for (StorageRequest& request : requests) {
      request.bytes = 8 * (1 + below(16));
      request.first = below(6);
      request.last = request.first + below(4);
    }
    const std::uint32_t least = least_bytes(requests);
    ASSERT_GE(least, peak_bytes(requests));
    const Allocation ours = allocate(requests, {{0, 1024 * kKiB}});
    std::uint32_t end = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      end = std::max(end, ours.addresses[i] + requests[i].bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const bool meets =
            requests[j].first <= requests[i].last && requests[i].first <= requests[j].last;
        ASSERT_TRUE(!meets || ours.addresses[j] + requests[j].bytes <= ours.addresses[i] ||
                    ours.addresses[i] + requests[i].bytes <= ours.addresses[j])
            << "case " << c;
      }
    }
    ASSERT_GE(end, least) << "case " << c;
    ASSERT_LE(end * 3, least * 4) << "case " << c;
    best_cases += end == least ? 1 : 0;
    // In the memory that the best placement takes, what does not fit is told.
    const Allocation tight = allocate(requests, {{0, least}});
    EXPECT_EQ(tight.missing_bytes == 0, end == least) << "case " << c;
  }
  EXPECT_GE(best_cases, kCases / 10 * 9);
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
