#include "isa/timing.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "tests/gc200.h"
#include "tests/tile_places.h"

namespace superstep {
namespace {

MachineConfig small(std::uint32_t rows, std::uint32_t columns) {
  MachineConfig machine = gc200();
  machine.grid = {rows, columns, 4};
  return machine;
}

TEST(TilePlaces, AreEachTakenOnce) {
  for (const MachineConfig& machine : {small(23, 16), small(4, 4), small(1, 1)}) {
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> places;
    for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
      const TilePlace place = place_of(machine, TileId{t});
      EXPECT_LT(place.row, machine.grid.rows);
      EXPECT_LT(place.column, machine.grid.columns);
      EXPECT_LT(place.lane, machine.grid.lanes);
      places.insert({place.row, place.column, place.lane});
    }
    EXPECT_EQ(places.size(), machine.tiles());
  }
}

TEST(TilePlaces, GoUpAColumnInPairsAndComeDownAgain) {
  const MachineConfig machine = gc200();
  const auto is = [&](std::uint32_t tile, std::uint32_t row, std::uint32_t column,
                      std::uint32_t lane) {
    const TilePlace place = place_of(machine, TileId{tile});
    EXPECT_EQ(std::tuple(place.row, place.column, place.lane), std::tuple(row, column, lane))
        << "tile " << tile;
  };
  is(0, 0, 0, 0);
  is(1, 0, 0, 2);
  is(44, 22, 0, 0);
  is(46, 22, 0, 1);
  is(91, 0, 0, 3);
  is(92, 0, 1, 0);
  is(1471, 0, 15, 3);
}

// Half round trips of osmarks/ipu-stack crates/ipu-target/src/topology.rs.
TEST(ExchangeLatency, IsThePublishedOneAlongRowZero) {
  const MachineConfig machine = gc200();
  const std::vector<std::uint64_t> expected = {35, 41, 47, 53, 59, 65, 71, 91,
                                               84, 77, 70, 63, 56, 49, 42};
  for (std::uint32_t column = 1; column < 16; ++column) {
    const TileId to = top_of(machine, column);
    EXPECT_EQ(exchange_latency(machine, TileId{0}, to).value(), expected[column - 1])
        << "column " << column;
    EXPECT_EQ(exchange_latency(machine, to, TileId{0}).value(), expected[column - 1]);
  }
  EXPECT_EQ(exchange_latency(machine, TileId{0}, TileId{0}).value(), 32U);
}

TEST(ExchangeLatency, GrowsByOneForARowAtEitherEnd) {
  const MachineConfig machine = gc200();
  EXPECT_EQ(exchange_latency(machine, TileId{0}, TileId{44}).value(), 32U + 22U);
  EXPECT_EQ(exchange_latency(machine, TileId{44}, TileId{46}).value(), 32U + 44U);
  EXPECT_EQ(exchange_latency(machine, TileId{6}, top_of(machine, 8)).value(), 91U + 3U);
}

TEST(ExchangeLatency, IsShorterFromTheInnerWestToTheOuterEast) {
  const MachineConfig machine = gc200();
  EXPECT_EQ(exchange_latency(machine, top_of(machine, 7), top_of(machine, 15)).value(),
            32U + 5U * 7U);
}

TEST(ExchangeLatency, TakesHalfTheColumnsOfASmallMachineForEachSide) {
  const MachineConfig machine = small(4, 4);
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    return exchange_latency(machine, top_of(machine, a), top_of(machine, b)).value();
  };
  EXPECT_EQ(between(0, 1), 35U);
  EXPECT_EQ(between(0, 2), 42U + 7U);
  EXPECT_EQ(between(0, 3), 42U);
  EXPECT_EQ(between(1, 3), 32U + 5U);
  EXPECT_EQ(exchange_latency(small(1, 1), TileId{0}, TileId{3}).value(), 32U);
}

TEST(ReleaseSkew, GrowsWithTheRowAndTheDistanceOfTheColumn) {
  const MachineConfig machine = gc200();
  EXPECT_EQ(release_skew(machine, TileId{0}).value(), 0U);
  EXPECT_EQ(release_skew(machine, TileId{44}).value(), 22U);
  EXPECT_EQ(release_skew(machine, top_of(machine, 8)).value(), 36U);
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    most = std::max(most, release_skew(machine, TileId{t}).value());
  }
  EXPECT_EQ(most, 58U);
}

TEST(MemoryElements, AreInterleavedByEightBytesInRegionOne) {
  const MachineConfig machine = gc200();
  EXPECT_EQ(memory_element(machine, 0x4c000), 0U);
  EXPECT_EQ(memory_element(machine, 0x4fffc), 0U);
  EXPECT_EQ(memory_element(machine, 0x50000), 1U);
  EXPECT_EQ(memory_element(machine, 0x80000), 13U);
  EXPECT_EQ(memory_element(machine, 0x80008), 14U);
  EXPECT_EQ(memory_element(machine, 0x87ff4), 13U);
  EXPECT_EQ(memory_element(machine, 0x88000), 15U);
}

}  // namespace
}  // namespace superstep
