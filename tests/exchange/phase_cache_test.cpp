#include "sim/exchange/phase_cache.h"
#include "tests/gc200.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace superstep {
namespace {

/// Keeps phases of one port that sends ten times; they differ in where the last send reads.
class PhaseCacheTest : public ::testing::Test {
 protected:
  [[nodiscard]] bool has(PhaseCache& cache, std::uint32_t last, std::uint64_t begin = 0) {
    return cache.find(ports(last, begin)) != nullptr;
  }

  void keep(PhaseCache& cache, std::uint32_t last) {
    ASSERT_FALSE(has(cache, last));
    ResolvedPhase phase;
    phase.copies.push_back({.bytes = last});
    cache.keep(phase);
  }

  /// The last sends that were found of so many phases, which come one after the other.
  std::vector<std::uint32_t> found(PhaseCache& cache, std::uint32_t first, std::uint32_t phases) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t last = first; last < first + phases; ++last) {
      if (has(cache, last)) {
        found.push_back(last);
      } else {
        cache.keep(ResolvedPhase{});
      }
    }
    return found;
  }

  std::vector<FabricPort> ports(std::uint32_t last, std::uint64_t begin) {
    log_.clear();
    for (std::uint64_t e = 0; e < 10; ++e) {
      log_.add({.cycle = begin + e, .value = e == 9 ? last : 0, .words = 1});
    }
    return {{TileId{3}, &log_, {}}};
  }

  PortLog log_;
};

constexpr std::size_t kEnough = 1 << 20;
/// Two phases of ten events of 24 bytes fit; three do not.
constexpr std::size_t kTwoPhases = 700;

TEST_F(PhaseCacheTest, FindsAPhaseAtAnyCycle) {
  PhaseCache cache(kEnough);
  keep(cache, 4);
  EXPECT_TRUE(has(cache, 4, 1'000'000));
}

TEST_F(PhaseCacheTest, TellsPhasesApart) {
  PhaseCache cache(kEnough);
  keep(cache, 4);
  keep(cache, 8);
  std::vector<FabricPort> other = ports(8, 0);
  const ResolvedPhase* found = cache.find(other);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->copies[0].bytes, 8U);
  other[0].tile = TileId{4};
  EXPECT_EQ(cache.find(other), nullptr);
}

TEST_F(PhaseCacheTest, TellsPhasesOfOneHashApart) {
  const PortEvent told = {.pc = 0x4c000, .cycle = 5, .value = 7, .words = 2};
  PortEvent other_kind = told, other_direction = told, other_pc = told, other_words = told;
  other_kind.kind = PortEvent::Kind::kPointer;
  other_direction.direction = 3;
  other_pc.pc += 4;
  other_words.words = 3;
  PhaseCache cache(kEnough);
  const auto find = [&](const PortEvent& event) {
    log_.clear();
    log_.add(event);
    return cache.find(std::vector<FabricPort>{{TileId{3}, &log_, {}}});
  };
  for (const PortEvent& event : {told, other_kind, other_direction, other_pc, other_words}) {
    ASSERT_EQ(find(event), nullptr);
    cache.keep(ResolvedPhase{});
  }
  EXPECT_EQ(cache.size(), 5U);
  EXPECT_NE(find(told), nullptr);
}

TEST_F(PhaseCacheTest, TellsRowsApartByIdCycleAndPlace) {
  const std::uint32_t delaypic = 0x60000001;  // one event
  const auto code = std::as_bytes(std::span(&delaypic, 1));
  const ExchangeItem item{gc200()};
  const PortRow first(1, Encoding::kMk2, item, 0x4c000, code);
  const PortRow second(2, Encoding::kMk2, item, 0x4c000, code);
  ASSERT_TRUE(first.has_events());
  PhaseCache cache(kEnough);
  const auto is_kept = [&](const PortRow& row, std::uint64_t cycle, bool row_is_first) {
    log_.clear();
    if (!row_is_first) log_.add({.cycle = 9});
    log_.add(row, cycle);
    if (row_is_first) log_.add({.cycle = 9});
    const std::vector<FabricPort> ports = {{TileId{3}, &log_, {}}};
    return cache.find(ports) != nullptr;
  };
  ASSERT_FALSE(is_kept(first, 9, false));
  cache.keep(ResolvedPhase{});
  EXPECT_TRUE(is_kept(first, 9, false));
  EXPECT_FALSE(is_kept(second, 9, false));
  EXPECT_FALSE(is_kept(first, 10, false));
  EXPECT_FALSE(is_kept(first, 9, true));
}

TEST_F(PhaseCacheTest, FindsAShareOfACycleThatIsLongerThanItself) {
  PhaseCache cache(kTwoPhases);
  EXPECT_TRUE(found(cache, 0, 5).empty());
  EXPECT_EQ(cache.size(), 2U);
  for (int turn = 1; turn < 20; ++turn) {
    EXPECT_EQ(found(cache, 0, 5), (std::vector<std::uint32_t>{0, 1})) << turn;
  }
}

TEST_F(PhaseCacheTest, MakesRoomInTheSecondTurnOfOtherPhases) {
  PhaseCache cache(kTwoPhases);
  for (int turn = 0; turn < 20; ++turn) (void)found(cache, 0, 2);
  EXPECT_TRUE(found(cache, 10, 2).empty());
  EXPECT_TRUE(found(cache, 10, 2).empty());
  for (int turn = 2; turn < 20; ++turn) {
    EXPECT_EQ(found(cache, 10, 2), (std::vector<std::uint32_t>{10, 11})) << turn;
  }
}

TEST_F(PhaseCacheTest, MakesNoRoomForPhasesThatComeOnce) {
  PhaseCache cache(kTwoPhases);
  (void)found(cache, 0, 2);
  (void)found(cache, 10, 100'000);
  EXPECT_EQ(found(cache, 0, 2), (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(PhaseCacheTest, LetsTheLeastRecentlyUsedGo) {
  PhaseCache cache(kTwoPhases);
  keep(cache, 4);
  keep(cache, 8);
  keep(cache, 12);
  ASSERT_TRUE(has(cache, 4));
  EXPECT_FALSE(has(cache, 12));
  keep(cache, 12);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(has(cache, 4));
  EXPECT_FALSE(has(cache, 8));
  EXPECT_TRUE(has(cache, 12));
}

TEST_F(PhaseCacheTest, KeepsAThousandAndTwentyFourWhereverMoreWouldFit) {
  constexpr std::uint32_t kMost = 1024;
  PhaseCache cache(std::size_t{1} << 30);
  EXPECT_TRUE(found(cache, 0, kMost + 1).empty());
  EXPECT_EQ(cache.size(), kMost);
  EXPECT_EQ(found(cache, 0, kMost + 1).size(), kMost);
  EXPECT_FALSE(has(cache, kMost));
}

TEST_F(PhaseCacheTest, KeepsNoPhaseThatIsLargerThanAllOfIt) {
  PhaseCache cache(100);
  keep(cache, 4);
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace superstep
