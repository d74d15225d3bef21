#include "sim/exchange/link_check.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compiler/cost/exchange_estimate.h"
#include "isa/fabric.h"
#include "isa/timing.h"
#include "tests/exchange/phase_checker.h"

namespace superstep {
namespace {

constexpr std::uint32_t kOut = 0x50000, kIn = 0x60000;

MachineConfig with_fabric(FabricKind fabric) {
  MachineConfig machine = test::small64();
  machine.exchange.fabric = fabric;
  machine.exchange.hop_latency = 3;
  return machine;
}

TileId tile_at(const MachineConfig& machine, std::uint32_t row, std::uint32_t column,
               std::uint32_t lane) {
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    const TilePlace place = place_of(machine, TileId{t});
    if (place.row == row && place.column == column && place.lane == lane) return TileId{t};
  }
  ADD_FAILURE() << "no tile there";
  return TileId{0};
}

std::vector<std::string> names(const MachineConfig& machine, const Route& route) {
  std::vector<std::string> names;
  for (const LinkUse& use : route.links) names.push_back(link_name(machine, use.link));
  return names;
}

TEST(Route, OfAMeshGoesAlongTheRowAndThenTheColumn) {
  const MachineConfig machine = with_fabric(FabricKind::kMesh);
  const Route way = route(machine, tile_at(machine, 2, 1, 3), tile_at(machine, 1, 2, 1));
  EXPECT_EQ(names(machine, way),
            (std::vector<std::string>{"the link of row 2, column 1, lane 3 to the next lane",
                                      "the link of row 2, column 2, lane 0 to the next lane",
                                      "the link of row 2, column 2, lane 1 to the row before"}));
  EXPECT_EQ(way.latency, Cycles(20 + 3 * 3));
  EXPECT_EQ(way.links[2].offset, 6U);
}

TEST(Route, OfARingGoesTheShorterWay) {
  const MachineConfig machine = with_fabric(FabricKind::kRing);
  EXPECT_EQ(
      names(machine, route(machine, TileId{1}, TileId{63})),
      (std::vector<std::string>{"the link of tile 1 downwards", "the link of tile 0 downwards"}));
  EXPECT_EQ(names(machine, route(machine, TileId{62}, TileId{1})),
            (std::vector<std::string>{"the link of tile 62 upwards", "the link of tile 63 upwards",
                                      "the link of tile 0 upwards"}));
  EXPECT_EQ(route(machine, TileId{0}, TileId{32}).latency, Cycles(20 + 32 * 3));
  EXPECT_EQ(longest_exchange_latency(machine), Cycles(20 + 32 * 3));
}

TEST(Route, OfATableIsThatOfTheColumnsAndHasNoLinks) {
  MachineConfig machine = with_fabric(FabricKind::kTable);
  for (std::uint32_t entry = 0; entry < 16; ++entry) machine.exchange.table.push_back(10 + entry);
  const Route way = route(machine, tile_at(machine, 2, 1, 3), tile_at(machine, 1, 3, 0));
  EXPECT_EQ(way.latency, Cycles(3 + 10 + 4 + 3));
  EXPECT_TRUE(way.links.empty());
  EXPECT_EQ(longest_exchange_latency(machine), Cycles(6 + 25));
}

TEST(Route, ThoseOfOneTileAreATree) {
  for (const FabricKind fabric : {FabricKind::kMesh, FabricKind::kRing}) {
    const MachineConfig machine = with_fabric(fabric);
    std::uint32_t longest = 0;
    for (std::uint32_t s = 0; s < 64; ++s) {
      std::map<std::uint32_t, std::uint32_t> offsets;
      for (std::uint32_t d = 0; d < 64; ++d) {
        const Route way = route(machine, TileId{s}, TileId{d});
        EXPECT_EQ(way.latency, Cycles(20 + 3 * way.links.size()));
        longest = std::max(longest, static_cast<std::uint32_t>(way.latency.value()));
        for (const LinkUse& use : way.links) {
          EXPECT_LT(use.link, number_of_links(machine));
          EXPECT_EQ(offsets.try_emplace(use.link, use.offset).first->second, use.offset);
        }
      }
    }
    EXPECT_EQ(longest_exchange_latency(machine), Cycles(longest));
  }
}

TEST(Links, TwoWordsOfOneCycleClash) {
  const MachineConfig machine = with_fabric(FabricKind::kRing);
  // Both take the link of tile 2 upwards, that of tile 1 three cycles after it has left.
  const LinkedWords early{TileId{1}, TileId{3}, 100, 110, kOut};
  LinkedWords late{TileId{2}, TileId{4}, 113, 120, kOut + 64};
  EXPECT_FALSE(find_clash(machine, std::vector{early, late}));
  late.begin = 112;
  const auto clash = find_clash(machine, std::vector{late, early});
  ASSERT_TRUE(clash);
  EXPECT_EQ(clash->cycle, 112U);
  EXPECT_EQ(link_name(machine, clash->link), "the link of tile 2 upwards");
  EXPECT_EQ(clash->one.source, TileId{1});
  EXPECT_EQ(clash->other.source, TileId{2});
}

TEST(Links, OneWordForSeveralTilesIsNoClash) {
  const MachineConfig machine = with_fabric(FabricKind::kMesh);
  std::vector<LinkedWords> words;
  for (std::uint32_t d = 1; d < 64; ++d) words.push_back({TileId{0}, TileId{d}, 10, 40, kOut});
  EXPECT_FALSE(find_clash(machine, words));
}

/// The earliest clash word by word: its cycle and link.
std::optional<std::pair<std::uint64_t, std::uint32_t>> first_clash(
    const MachineConfig& machine, const std::vector<LinkedWords>& words) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::set<TileId>> on_links;
  for (const LinkedWords& run : words) {
    for (const LinkUse& use : route(machine, run.source, run.destination).links) {
      for (std::uint64_t cycle = run.begin; cycle < run.end; ++cycle) {
        on_links[{cycle + use.offset, use.link}].insert(run.source);
      }
    }
  }
  for (const auto& [place, sources] : on_links) {
    if (sources.size() > 1) return place;
  }
  return std::nullopt;
}

TEST(Links, TheClashIsTheEarliestOfAllWordsOneByOne) {
  std::mt19937 random(5);
  int clashes = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const MachineConfig machine =
        with_fabric(trial % 2 == 0 ? FabricKind::kMesh : FabricKind::kRing);
    const auto pick = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    std::vector<LinkedWords> words;
    for (std::uint32_t i = 0; i < 6 + pick(6); ++i) {
      const std::uint32_t begin = pick(200 + 100 * pick(3));
      words.push_back({TileId{pick(64)}, TileId{pick(64)}, begin, begin + 1 + pick(30), kOut});
      // To more tiles, all of it or a part.
      for (std::uint32_t more = pick(3); more > 0; --more) {
        LinkedWords part = words.back();
        part.destination = TileId{pick(64)};
        part.begin += pick(static_cast<std::uint32_t>(part.end - part.begin));
        words.push_back(part);
      }
    }
    const auto expected = first_clash(machine, words);
    const std::optional<LinkClash> clash = find_clash(machine, words);
    ASSERT_EQ(clash.has_value(), expected.has_value()) << trial;
    if (!clash) continue;
    ++clashes;
    EXPECT_EQ(std::pair(clash->cycle, clash->link), *expected) << trial;
    EXPECT_NE(clash->one.source, clash->other.source);
  }
  EXPECT_GT(clashes, 50);
  EXPECT_LT(clashes, 380);
}

/// A mesh and a ring of 8,192 tiles, the most that a machine has.
std::vector<MachineConfig> of_most_tiles() {
  std::vector<MachineConfig> machines;
  for (const FabricKind fabric : {FabricKind::kMesh, FabricKind::kRing}) {
    MachineConfig machine = with_fabric(fabric);
    machine.grid = {8192, 1, 1, 0};
    machines.push_back(machine);
  }
  return machines;
}

/// The most memory that the process has had, in KiB.
long most_memory_kib() {
  rusage usage{};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

TEST(Links, OfTheMostTilesAreCheckedWithoutAListOfAll) {
  const long before = most_memory_kib();
  for (const MachineConfig& machine : of_most_tiles()) {
    // From one tile to all, then from all to that one, one after the other.
    std::vector<LinkedWords> words;
    const std::uint64_t longest = longest_exchange_latency(machine).value();
    for (std::uint32_t t = 1; t < 8192; ++t) {
      words.push_back({TileId{0}, TileId{t}, 10, 40, kOut});
      words.push_back({TileId{t}, TileId{0}, 50 + longest * t, 80 + longest * t, kOut});
    }
    EXPECT_FALSE(find_clash(machine, words));
    words.push_back({TileId{3}, TileId{4}, 50, 51, kOut});
    const auto clash = find_clash(machine, words);
    ASSERT_FALSE(clash) << "that of tile 0 has passed";
    words.back().begin = 20;
    EXPECT_EQ(find_clash(machine, words).value().cycle, 20U);
  }
  EXPECT_LT(most_memory_kib() - before, 512 << 10) << "all words on all links take gigabytes";
}

TEST(Links, ThatWouldTakeTooMuchMemoryAreRefusedBeforeTheyDo) {
  for (MachineConfig machine : of_most_tiles()) {
    const Transfer far{{TileId{0}, kOut}, {{TileId{4000}, kIn}}, 100};
    const auto schedule = [&] {
      return schedule_exchange(machine, std::vector{far}, std::vector{TileId{0}, TileId{4000}});
    };
    EXPECT_GT(schedule().length.value(), 12'000U);
    machine.exchange.hop_latency = 4096;
    EXPECT_THROW((void)schedule(), HostLimit);
  }
}

TEST(Ports, ThatWouldTakeTooMuchMemoryAreRefusedBeforeTheyDo) {
  MachineConfig machine = with_fabric(FabricKind::kCrossbar);
  machine.grid = {8192, 1, 1, 0};
  machine.exchange.per_row_latency = 4096;
  std::vector<Transfer> transfers;
  for (std::uint32_t t = 0; t < 4096; ++t) {
    transfers.push_back({{TileId{t}, kOut}, {{TileId{4096 + t}, kIn}}, 100});
  }
  const std::vector<TileId> tiles = test::all_tiles(machine);
  EXPECT_THROW((void)schedule_exchange(machine, transfers, tiles), HostLimit);
}

TEST(Links, EstimatesCountWhatTheyCarry) {
  for (const FabricKind fabric : {FabricKind::kMesh, FabricKind::kRing}) {
    const MachineConfig machine = with_fabric(fabric);
    // Four ways that share a link; the words of one go to another tile over it too.
    const bool is_ring = fabric == FabricKind::kRing;
    const auto tile = [&](std::uint32_t column, std::uint32_t lane) {
      return is_ring ? TileId{4 * column + lane} : tile_at(machine, 0, column, lane);
    };
    std::vector<Movement> movements;
    std::vector<Transfer> transfers;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      movements.push_back(
          {{BufferId{0}, tile(0, lane), 0}, {{BufferId{1}, tile(2, lane), 0}}, 300});
      transfers.push_back({{tile(0, lane), kOut}, {{tile(2, lane), kIn}}, 300});
    }
    movements.back().destinations.push_back({BufferId{1}, tile(3, 0), 0});
    transfers.back().destinations.push_back({tile(3, 0), kIn});
    const std::uint64_t length =
        schedule_exchange(machine, transfers, test::all_tiles(machine)).length.value();
    const std::uint64_t estimate = estimate_exchange(machine, movements);
    EXPECT_GT(length, 4 * 300U);
    EXPECT_LE(estimate, length * 11 / 10);
    EXPECT_GE(estimate, length * 9 / 10);
  }
}

TEST(Links, SchedulesReserveThemAsPorts) {
  std::mt19937 random(3);
  for (const FabricKind fabric : {FabricKind::kMesh, FabricKind::kRing, FabricKind::kTable}) {
    MachineConfig machine = with_fabric(fabric);
    for (std::uint32_t entry = 0; entry < 16; ++entry)
      machine.exchange.table.push_back(20 + entry * 7 % 30);
    for (int trial = 0; trial < 12; ++trial) {
      SCOPED_TRACE(trial);
      const auto pick = [&](std::uint32_t below) {
        return static_cast<std::uint32_t>(random() % below);
      };
      std::vector<std::uint32_t> next(64, kIn);
      std::vector<Transfer> transfers;
      for (int i = 0; i < 150; ++i) {
        Transfer transfer{{TileId{pick(64)}, kOut + 4 * pick(2000)}, {}, 1 + pick(40)};
        std::set<std::uint32_t> tiles;
        for (std::uint32_t k = 0; k < 1 + pick(4); ++k) tiles.insert(pick(64));
        for (const std::uint32_t tile : tiles) {
          transfer.destinations.push_back({TileId{tile}, next[tile]});
          next[tile] += 4 * (transfer.words + pick(2));
        }
        transfers.push_back(transfer);
      }
      machine.exchange.width_bytes = 1U << trial % 5;
      const ExchangePhase phase = schedule_exchange(machine, transfers, test::all_tiles(machine));
      test::PhaseChecker(machine).expect_delivers(phase, transfers);
    }
  }
}

}  // namespace
}  // namespace superstep
