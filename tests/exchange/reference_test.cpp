// Schedules of small random phases against a reference by edge colouring, and the parts of the
// stage one by one.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "compiler/schedule/edge_colouring.h"
#include "compiler/schedule/phases.h"
#include "tests/exchange/phase_checker.h"
#include "tests/exchange/reference_schedule.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

using test::all_tiles;
using test::small64;

constexpr std::uint32_t kSourceAddress = 0x50000;  // sends and receives in different elements
constexpr std::uint32_t kDestinationAddress = 0x60000;

/// `count` unicasts between tiles at random, of words from `least` to `most`.
std::vector<Transfer> random_phase(const MachineConfig& machine, std::mt19937& random,
                                   std::uint32_t count, std::uint32_t least, std::uint32_t most) {
  std::vector<std::uint32_t> sent(machine.tiles()), received(machine.tiles());
  std::vector<Transfer> transfers;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::uint32_t>(random() % machine.tiles());
    const auto to = static_cast<std::uint32_t>(random() % machine.tiles());
    const auto words = static_cast<std::uint32_t>(least + random() % (most - least + 1));
    transfers.push_back({{TileId{from}, kSourceAddress + sent[from] * 4},
                         {{TileId{to}, kDestinationAddress + received[to] * 4}},
                         words});
    sent[from] += words + 1;
    received[to] += words + 1;
  }
  return transfers;
}

TEST(ReferenceSchedule, IsNotShorterThanOursByMoreThanATwentieth) {
  const MachineConfig machine = small64();
  std::mt19937 random(17);
  struct Case {
    std::uint32_t count, least, most;
  };
  for (const Case& c : {Case{64, 1, 1}, Case{64, 40, 40}, Case{400, 8, 8}, Case{900, 16, 16},
                        Case{200, 1, 90}, Case{900, 1, 40}, Case{1500, 5, 7}}) {
    for (int trial = 0; trial < 4; ++trial) {
      const std::vector<Transfer> transfers =
          random_phase(machine, random, c.count, c.least, c.most);
      const ExchangePhase phase = schedule_exchange(machine, transfers, all_tiles(machine));
      const std::uint64_t reference = test::reference_length(machine, transfers);
      SCOPED_TRACE(testing::Message()
                   << c.count << " transfers of " << c.least << " to " << c.most << " words, trial "
                   << trial << ": reference " << reference << ", bound " << phase.bound_cycles);
      EXPECT_LE(phase.length.value() * 20, reference * 21);
      EXPECT_GT(phase.length.value(), phase.bound_cycles);
      test::PhaseChecker(machine).expect_delivers(phase, transfers);
    }
  }
}

Tasks tasks_of(const MachineConfig& machine, const std::vector<Transfer>& transfers) {
  return make_tasks(machine, merge_transfers(machine, transfers, Joined::kCollectives));
}

TEST(EdgeColouring, SharesNoPortAndTakesFewerThanTwiceTheDegree) {
  const MachineConfig machine = small64();
  std::mt19937 random(23);
  for (const std::uint32_t count : {1U, 64U, 700U, 3000U}) {
    const Tasks tasks = tasks_of(machine, random_phase(machine, random, count, 3, 3));
    const std::vector<std::uint32_t> colours = colour_edges(tasks);
    std::set<std::pair<std::uint32_t, std::uint32_t>> senders, receivers;
    std::vector<std::uint32_t> sends(machine.tiles()), receives(machine.tiles());
    std::uint32_t degree = 0;
    for (std::size_t i = 0; i < tasks.list.size(); ++i) {
      const std::uint32_t from = tasks.list[i].source;
      const std::uint32_t to = tasks.arrivals_of(tasks.list[i]).front().tile;
      EXPECT_TRUE(senders.insert({colours[i], from}).second);
      EXPECT_TRUE(receivers.insert({colours[i], to}).second);
      degree = std::max({degree, ++sends[from], ++receives[to]});
    }
    EXPECT_LT(*std::ranges::max_element(colours) + 1, 2 * degree);
  }
}

/// What two products take of one operand: each tile's words go to its row of one grid of 32 x 46
/// tiles, which wants all rows alike, and to its column of another.
std::vector<Transfer> two_grids(const MachineConfig& machine) {
  std::vector<Transfer> transfers;
  for (std::uint32_t tile = 0; tile < machine.tiles(); ++tile) {
    Transfer row{{TileId{tile}, kSourceAddress}, {}, 100, 1},
        column{{TileId{tile}, kSourceAddress}, {}, 100, 2};
    for (std::uint32_t k = 0; k < 32; ++k) {
      row.destinations.push_back(
          {TileId{tile / 32 * 32 + k}, kDestinationAddress + tile % 32 * 400});
    }
    for (std::uint32_t k = 0; k < 46; ++k) {
      column.destinations.push_back(
          {TileId{k * 32 + tile % 32}, kDestinationAddress + (32 + tile / 32) * 400});
    }
    transfers.push_back(std::move(row));
    transfers.push_back(std::move(column));
  }
  return transfers;
}

TEST(Collectives, OfOneOperandAreNearTheBoundOfBothTogether) {
  const MachineConfig machine = gc200();
  const ExchangePhase phase = schedule_exchange(machine, two_grids(machine), all_tiles(machine));
  EXPECT_EQ(phase.bound_cycles, (32U + 46U) * 100U);
  EXPECT_LE(phase.length.value(), phase.bound_cycles * 11 / 10);
}

TEST(Collectives, AreJoinedWhereASenderWouldTakeLongerThanEveryReceiver) {
  const MachineConfig machine = small64();
  std::vector<Transfer> transfers;
  for (std::uint32_t t = 1; t < machine.tiles(); ++t) {
    transfers.push_back({{TileId{0}, kSourceAddress}, {{TileId{t}, kDestinationAddress}}, 100, t});
  }
  const ExchangePhase phase = schedule_exchange(machine, transfers, all_tiles(machine));
  EXPECT_EQ(phase.bound_cycles, 100U);
  test::PhaseChecker(machine).expect_delivers(phase, transfers);
}

TEST(PlacementCache, PlacesWhatDiffersInAddressesOnce) {
  const MachineConfig machine = small64();
  std::mt19937 random(29);
  std::vector<Transfer> transfers = random_phase(machine, random, 300, 1, 30);
  PlacementCache cache;
  const auto placement = cache.place(tasks_of(machine, transfers));
  std::vector<Transfer> moved = transfers;
  for (Transfer& transfer : moved) transfer.destinations.front().address += 0x400;
  EXPECT_EQ(cache.place(tasks_of(machine, moved)), placement);
  moved.front().words += 1;
  EXPECT_NE(cache.place(tasks_of(machine, moved)), placement);
  moved = transfers;  // now into the elements that are read
  for (Transfer& transfer : moved) transfer.destinations.front().address = kSourceAddress + 0x3000;
  EXPECT_NE(cache.place(tasks_of(machine, moved)), placement);
}

TEST(PhaseScheduler, MakesTheSameRowsOnAnyNumberOfThreads) {
  const MachineConfig machine = small64();
  const std::vector<TileId> tiles = all_tiles(machine);
  std::mt19937 random(31);
  std::vector<std::vector<Transfer>> phases(6);
  for (std::size_t i = 0; i < 4; ++i) phases[i] = random_phase(machine, random, 300, 1, 30);
  phases[4] = phases[1];
  for (Transfer& transfer : phases[4]) transfer.destinations.front().address += 0x400;
  const auto schedule = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return PhaseScheduler(machine, tiles, false).schedule(phases.size(), [&](std::size_t phase) {
      return phases[phase];
    });
  };
  const std::vector<ExchangePhase> one = schedule(1), four = schedule(4);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    ASSERT_EQ(one[i].rows.size(), phases[i].empty() ? 0 : tiles.size());
    for (std::size_t t = 0; t < one[i].rows.size(); ++t) {
      EXPECT_EQ(one[i].rows[t].code, four[i].rows[t].code);
    }
    if (!phases[i].empty()) test::PhaseChecker(machine).expect_delivers(one[i], phases[i]);
  }
  EXPECT_EQ(one[4].length, one[1].length);
}

}  // namespace
}  // namespace superstep
