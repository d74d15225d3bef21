#include "compiler/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isa/exchange_ports.h"
#include "isa/timing.h"
#include "sim/exchange/fabric.h"
#include "tests/exchange/phase_checker.h"
#include "tests/exchange/row_decoder.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

using test::all_tiles;
using test::small64;

constexpr std::uint32_t kOut = 0x50000;  // sends and receives in different elements
constexpr std::uint32_t kIn = 0x60000;
constexpr std::uint32_t kInterleaved = 0x30000;  // from there to the same place of region 1

/// Schedules on all tiles, runs the rows through the fabric and compares every destination.
ExchangePhase expect_moves(const MachineConfig& machine, const std::vector<Transfer>& transfers) {
  ExchangePhase phase = schedule_exchange(machine, transfers, all_tiles(machine));
  constexpr std::uint64_t kOpening = 1000;
  const std::uint32_t base = machine.tile.memory_base;
  std::vector<PortLog> logs(machine.tiles());
  std::deque<PortRow> rows;
  std::vector<std::vector<std::byte>> memory(machine.tiles());
  std::vector<FabricPort> ports;
  std::uint32_t low = machine.memory_end(), high = base;
  for (const Transfer& transfer : transfers) {
    const auto touch = [&](std::uint32_t address) {
      low = std::min(low, address);
      high = std::max(high, address + transfer.words * 4);
    };
    touch(transfer.source.address);
    for (const TransferEnd& to : transfer.destinations) touch(to.address);
  }
  for (const ExchangeRow& row : phase.rows) {
    const std::uint32_t t = index(row.tile);
    const std::uint64_t release = kOpening + release_skew(machine, row.tile).value();
    // After the sync that begins it, at an address where no code is fetched.
    const auto code = std::as_bytes(std::span(row.code)).subspan(4);
    const PortRow& decoded =
        rows.emplace_back(1, machine.isa.encoding, ExchangeItem(machine), 4, code);
    EXPECT_EQ(decoded.end(), row.code.size() * 4);
    if (decoded.has_events()) logs[t].add(decoded, release);
    memory[t].resize(high - base);
    for (std::uint32_t a = low; a < high; a += 4) {
      const std::uint32_t value = t << 20 | a;  // unique: tells every word's home
      std::memcpy(&memory[t][a - base], &value, 4);
    }
  }
  std::vector<std::vector<std::byte>> expected = memory;
  for (const Transfer& transfer : transfers) {
    for (const TransferEnd& to : transfer.destinations) {
      std::memcpy(&expected[index(to.tile)][to.address - base],
                  &memory[index(transfer.source.tile)][transfer.source.address - base],
                  std::size_t{transfer.words} * 4);
    }
  }
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    ports.push_back({TileId{t}, &logs[t], memory[t]});
  }
  const std::vector<std::vector<std::byte>> before = memory;
  Fabric fabric(machine, 1);
  for (std::uint64_t repeats = 0; repeats < 2; ++repeats) {
    for (std::uint32_t t = 0; t < machine.tiles(); ++t)
      std::ranges::copy(before[t], memory[t].begin());
    const FabricResult& result = fabric.resolve(ports);
    EXPECT_FALSE(result.fault) << result.fault->cause;
    EXPECT_EQ(result.last_event, kOpening + phase.length.value());
    EXPECT_TRUE(memory == expected);
    EXPECT_EQ(fabric.repeats(), repeats);
  }
  return phase;
}

double ratio(const ExchangePhase& phase) {
  return static_cast<double>(phase.length.value()) / static_cast<double>(phase.bound_cycles);
}

std::size_t most_code_bytes(const ExchangePhase& phase) {
  std::size_t most = 0;
  for (const ExchangeRow& row : phase.rows) most = std::max(most, row.code.size() * 4);
  return most;
}

void report(const char* pattern, const ExchangePhase& phase) {
  ::testing::Test::RecordProperty("ratio", std::to_string(ratio(phase)));
  printf("%-28s bound %6lu words  length %6lu  ratio %.3f  code %zu B\n", pattern,
         static_cast<unsigned long>(phase.bound_cycles),
         static_cast<unsigned long>(phase.length.value()), ratio(phase), most_code_bytes(phase));
}

std::vector<Transfer> permutations(const MachineConfig& machine, std::uint32_t count,
                                   std::uint32_t words, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Transfer> transfers;
  for (std::uint32_t p = 0; p < count; ++p) {
    std::vector<std::uint32_t> to(machine.tiles());
    std::iota(to.begin(), to.end(), 0U);
    for (std::size_t i = to.size() - 1; i > 0; --i) std::swap(to[i], to[random() % (i + 1)]);
    for (std::uint32_t s = 0; s < machine.tiles(); ++s) {
      const std::uint32_t at = p * (words + 1) * 4;
      transfers.push_back({{TileId{s}, kOut + at}, {{TileId{to[s]}, kIn + at}}, words});
    }
  }
  return transfers;
}

/// Groups of `size` tiles; in round r member j sends to member j + r of its group.
std::vector<Transfer> groups(const MachineConfig& machine, std::uint32_t size,
                             std::uint32_t words) {
  std::vector<Transfer> transfers;
  for (std::uint32_t r = 1; r < size; ++r) {
    for (std::uint32_t s = 0; s < machine.tiles() / size * size; ++s) {
      const std::uint32_t first = s / size * size;
      const std::uint32_t d = first + (s - first + r) % size;
      transfers.push_back({{TileId{s}, kOut + d % size * words * 4},
                           {{TileId{d}, kIn + s % size * words * 4}},
                           words});
    }
  }
  return transfers;
}

TEST(ExchangeSchedule, AWordArrivesOneLatencyAfterItsRowsFirstCycle) {
  MachineConfig machine = gc200();
  machine.grid = {1, 1, 4};
  const ExchangePhase phase = expect_moves(machine, {{{TileId{0}, kOut}, {{TileId{1}, kIn}}, 20}});
  EXPECT_EQ(phase.bound_cycles, 20U);
  EXPECT_EQ(phase.length.value(), 1U + 32U + 20U);  // row entry, latency, words
  ASSERT_EQ(phase.rows.size(), 4U);
  EXPECT_EQ(phase.rows[2].code, (std::vector<std::uint32_t>{0x41800003, 0x40a00000}));
}

TEST(ExchangeSchedule, WaitsForTheReleaseOfBothTiles) {
  const MachineConfig machine = gc200();
  for (const auto& [s, d] :
       {std::pair{0U, 1471U}, std::pair{1471U, 0U}, std::pair{0U, 740U}, std::pair{740U, 0U}}) {
    const ExchangePhase phase = expect_moves(machine, {{{TileId{s}, kOut}, {{TileId{d}, kIn}}, 5}});
    const std::uint64_t latency = exchange_latency(machine, TileId{s}, TileId{d}).value();
    const std::uint64_t send = release_skew(machine, TileId{s}).value() + 1;
    const std::uint64_t receive = release_skew(machine, TileId{d}).value() + 1;
    EXPECT_EQ(phase.length.value(), std::max(send + latency, receive) + 5);
  }
}

TEST(ExchangeSchedule, NothingToMoveIsOnlyASync) {
  const MachineConfig machine = small64();
  const std::vector<TileId> two = {TileId{3}, TileId{9}};
  const ExchangePhase phase = schedule_exchange(machine, {}, two);
  ASSERT_EQ(phase.rows.size(), 2U);
  EXPECT_EQ(phase.length.value(), 0U);
  EXPECT_EQ(phase.rows[1].code.size(), 2U);
}

TEST(ExchangeSchedule, AMulticastIsSentOnceAndReachesItsSender) {
  const MachineConfig machine = small64();
  Transfer transfer{{TileId{5}, kOut}, {}, 500};
  for (const TileId tile : all_tiles(machine)) transfer.destinations.push_back({tile, kIn});
  const ExchangePhase phase = expect_moves(machine, {transfer});
  EXPECT_EQ(phase.bound_cycles, 500U);
  EXPECT_LE(phase.length.value(), 500U + 100U);
  test::PhaseChecker(machine).expect_delivers(phase, {transfer});
}

TEST(ExchangeSchedule, AMulticastToItsSenderWithinOneElementTakesTurns) {
  const MachineConfig machine = small64();
  const std::vector<Transfer> transfers = {
      {{TileId{5}, kOut}, {{TileId{4}, kOut + 0x1000}, {TileId{5}, kOut + 0x1000}}, 200}};
  test::PhaseChecker(machine).expect_delivers(expect_moves(machine, transfers), transfers);
}

TEST(ExchangeSchedule, SeparateTransfersOfOneRangeBecomeAMulticast) {
  const MachineConfig machine = small64();
  std::vector<Transfer> transfers;
  for (std::uint32_t piece = 0; piece < 10; ++piece) {
    for (std::uint32_t d = 1; d < 64; ++d) {
      transfers.push_back({{TileId{0}, kOut + piece * 80}, {{TileId{d}, kIn + piece * 80}}, 20});
    }
  }
  const ExchangePhase phase = expect_moves(machine, transfers);
  EXPECT_EQ(phase.bound_cycles, 200U);
  EXPECT_LE(phase.rows[0].code.size(), 8U);
}

TEST(ExchangeSchedule, OneSourceMayGoToTwoAddressesOfOneTile) {
  const MachineConfig machine = small64();
  const std::vector<Transfer> transfers = {
      {{TileId{0}, kOut}, {{TileId{1}, kIn}, {TileId{1}, kIn + 400}, {TileId{2}, kIn}}, 7}};
  test::PhaseChecker(machine).expect_delivers(expect_moves(machine, transfers), transfers);
}

TEST(ExchangeSchedule, SendsAndReceivesOfOneElementTakeTurns) {
  const MachineConfig machine = small64();
  std::vector<Transfer> transfers;
  for (std::uint32_t t = 0; t < 64; ++t) {
    transfers.push_back({{TileId{t}, kOut + kInterleaved},
                         {{TileId{(t + 17) % 64}, kOut + kInterleaved + 0x1000}},
                         300});
  }
  const ExchangePhase phase = expect_moves(machine, transfers);
  test::PhaseChecker(machine).expect_delivers(phase, transfers);
}

TEST(ExchangeSchedule, RandomTrafficIsDeliveredWordForWord) {
  const MachineConfig machine = small64();
  std::mt19937 random(3);
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const auto pick = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    const std::uint32_t region = trial % 2 == 0 ? 0 : kInterleaved;
    const std::uint32_t in = kIn + region;
    std::vector<std::uint32_t> next(64, in + (trial % 2 == 0 ? 0 : 8 * pick(100)));
    std::vector<Transfer> transfers;
    for (int i = 0; i < 200; ++i) {
      Transfer transfer{{TileId{pick(64)}, kOut + region + 4 * pick(2000)}, {}, 1 + pick(90)};
      if (trial % 3 == 0) transfer.source.address = in + 0x2000 + 4 * pick(1000);
      std::vector<std::uint32_t> tiles(64);
      std::iota(tiles.begin(), tiles.end(), 0U);
      for (std::uint32_t k = 0; k < 1 + pick(trial % 4 + 1); ++k) {
        std::swap(tiles[k], tiles[k + pick(64 - k)]);
        transfer.destinations.push_back({TileId{tiles[k]}, next[tiles[k]]});
        next[tiles[k]] += 4 * (transfer.words + pick(2));
      }
      transfers.push_back(transfer);
    }
    // Every third trial sends from the elements that receive, but from no word that arrives.
    ASSERT_LE(*std::max_element(next.begin(), next.end()), in + 0x2000);
    test::PhaseChecker(machine).expect_delivers(expect_moves(machine, transfers), transfers);
  }
}

TEST(ExchangeSchedule, TrafficOfEachWidthIsDeliveredWordForWord) {
  std::mt19937 random(4);
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    MachineConfig machine = small64();
    machine.exchange.width_bytes = 1U << trial % 5;
    const auto pick = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    // Many tiles send and receive at the same time, in some trials in the same elements.
    const std::uint32_t region = trial % 2 == 0 ? 0 : kInterleaved;
    const std::uint32_t from = trial % 3 == 0 ? kIn + region + 0x2000 : kOut + region;
    std::vector<std::uint32_t> next(64, kIn + region);
    std::vector<Transfer> transfers;
    for (int i = 0; i < 200; ++i) {
      Transfer transfer{
          {TileId{pick(64)}, from + 4 * pick(1000)}, {}, 1 + pick(i % 4 == 0 ? 90 : 4)};
      std::set<std::uint32_t> tiles;
      for (std::uint32_t k = 0; k < 1 + pick(3); ++k) tiles.insert(pick(64));
      for (const std::uint32_t tile : tiles) {
        transfer.destinations.push_back({TileId{tile}, next[tile]});
        next[tile] += 4 * (transfer.words + pick(2));
      }
      transfers.push_back(transfer);
    }
    test::PhaseChecker(machine).expect_delivers(expect_moves(machine, transfers), transfers);
  }
}

TEST(ExchangeSchedule, AWiderExchangeIsAsMuchShorter) {
  for (const std::uint32_t width : {1U, 2U, 8U, 16U}) {
    MachineConfig machine = small64();
    const ExchangePhase base = expect_moves(machine, permutations(machine, 4, 400, 5));
    machine.exchange.width_bytes = width;
    const ExchangePhase phase = expect_moves(machine, permutations(machine, 4, 400, 5));
    EXPECT_EQ(phase.bound_cycles * width, base.bound_cycles * 4);
    EXPECT_LE(ratio(phase), width > 4 ? 1.3 : 1.1) << width;
  }
}

TEST(ExchangeSchedule, DoesNotDependOnHowTransfersAreCut) {
  const MachineConfig machine = small64();
  std::vector<Transfer> whole = permutations(machine, 4, 40, 5);
  std::vector<Transfer> cut;
  for (const Transfer& t : whole) {
    for (std::uint32_t w = 0; w < 40; w += 10) {
      cut.push_back({{t.source.tile, t.source.address + w * 4},
                     {{t.destinations[0].tile, t.destinations[0].address + w * 4}},
                     10});
    }
  }
  const ExchangePhase a = expect_moves(machine, whole);
  const ExchangePhase b = expect_moves(machine, cut);
  EXPECT_EQ(a.length, b.length);
  for (std::size_t i = 0; i < a.rows.size(); ++i) EXPECT_EQ(a.rows[i].code, b.rows[i].code);
}

// The bound counts words only; the longest path of the chip and its release take another 126 to 135
// cycles, a quarter of the bound where it is 512 words.
TEST(ExchangeSchedule, PermutationsOfShortPiecesAreNearTheBound) {
  struct Case {
    std::uint32_t count, words;
    double most;
  };
  for (const Case& c : {Case{16, 32, 1.38}, Case{64, 8, 1.32}, Case{16, 64, 1.24},
                        Case{64, 16, 1.19}, Case{64, 32, 1.12}, Case{16, 300, 1.075}}) {
    const std::string name = std::to_string(c.count) + " permutations x " + std::to_string(c.words);
    SCOPED_TRACE(name);
    const ExchangePhase phase = expect_moves(gc200(), permutations(gc200(), c.count, c.words, 1));
    report(name.c_str(), phase);
    EXPECT_EQ(phase.bound_cycles, c.count * c.words);
    EXPECT_LE(ratio(phase), c.most);
  }
}

TEST(ExchangeSchedule, PermutationsAreFoundInAnyOrder) {
  std::vector<Transfer> transfers = permutations(gc200(), 16, 64, 1);
  std::mt19937 random(9);
  for (std::size_t i = transfers.size() - 1; i > 0; --i) {
    std::swap(transfers[i], transfers[random() % (i + 1)]);
  }
  const ExchangePhase phase = expect_moves(gc200(), transfers);
  report("16 permutations, scrambled", phase);
  EXPECT_LE(ratio(phase), 1.25);
}

TEST(ExchangeSchedule, PiecesOfMulticastsFillGaps) {
  // Each tile tells three tiles at random of its 20 words, 12 times.
  const MachineConfig machine = small64();
  std::mt19937 random(11);
  std::vector<Transfer> transfers;
  std::vector<std::uint32_t> received(machine.tiles());
  for (std::uint32_t t = 0; t < machine.tiles() * 12; ++t) {
    Transfer transfer{{TileId{t % 64}, kOut + t / 64 * 84}, {}, 20};
    for (std::uint32_t d = 0; d < 3; ++d) {
      const std::uint32_t to = (t % 64 + 1 + 21 * d + random() % 21) % 64;
      transfer.destinations.push_back({TileId{to}, kIn + 84 * received[to]++});
    }
    transfers.push_back(std::move(transfer));
  }
  const ExchangePhase phase = expect_moves(machine, transfers);
  report("multicasts to three", phase);
  EXPECT_LE(ratio(phase), 1.06);
  test::PhaseChecker(machine).expect_delivers(phase, transfers);
}

TEST(ExchangeSchedule, RotatedGroupsAreNearTheBound) {
  const ExchangePhase phase = expect_moves(gc200(), groups(gc200(), 32, 32));
  report("groups of 32 x 32", phase);
  EXPECT_EQ(phase.bound_cycles, 992U);
  EXPECT_LE(ratio(phase), 1.2);
}

TEST(ExchangeSchedule, RotatedGroupsInScrambledOrderAreFoundAgain) {
  std::vector<Transfer> transfers = groups(gc200(), 32, 32);
  std::mt19937 random(9);
  for (std::size_t i = transfers.size() - 1; i > 0; --i) {
    std::swap(transfers[i], transfers[random() % (i + 1)]);
  }
  const ExchangePhase phase = expect_moves(gc200(), transfers);
  report("the same, scrambled", phase);
  EXPECT_LE(ratio(phase), 1.2);
}

TEST(ExchangeSchedule, PartialSumsOfSixtyFourTransfersATileAreNearTheBound) {
  // As a product split 22 times by depth sends them: the 66 tiles with parts of 64 rows of three
  // neighbouring column blocks send each row to the tile that adds it.
  const MachineConfig machine = gc200();
  std::vector<Transfer> transfers;
  for (std::uint32_t tile = 0; tile < 22 * 64; ++tile) {
    const std::uint32_t half = tile / 32 % 2, column = tile % 32 / 3, depth = tile / 64;
    for (std::uint32_t row = 0; row < 64; ++row) {
      const std::uint32_t adder = (half * 64 + row) * 11 + column;
      const std::uint32_t part = depth * 3 + tile % 32 % 3;
      transfers.push_back(
          {{TileId{tile}, kOut + row * 64}, {{TileId{adder}, kIn + part * 64}}, 16});
    }
  }
  const ExchangePhase phase = expect_moves(machine, transfers);
  report("partial sums", phase);
  EXPECT_EQ(phase.bound_cycles, 66 * 16U);
  EXPECT_LE(ratio(phase), 1.2);
}

TEST(ExchangeSchedule, SixtyFourTransfersOfManyLengthsATileAreNearTheBound) {
  const MachineConfig machine = gc200();
  std::mt19937 random(5);
  std::vector<std::uint32_t> sent(machine.tiles()), received(machine.tiles());
  std::vector<Transfer> transfers;
  for (Transfer& transfer : permutations(machine, 64, 1, 7)) {
    std::uint32_t& from = sent[index(transfer.source.tile)];
    std::uint32_t& to = received[index(transfer.destinations[0].tile)];
    transfer.words = 1 + random() % 128;
    transfer.source.address = kOut + from * 4;
    transfer.destinations[0].address = kIn + to * 4;
    from += transfer.words + 1;
    to += transfer.words + 1;
    transfers.push_back(std::move(transfer));
  }
  const ExchangePhase phase = expect_moves(machine, transfers);
  report("64 x 1 to 128 words", phase);
  EXPECT_LE(ratio(phase), 1.1);
}

TEST(ExchangeSchedule, OneToAllAndAllToOneIsNearTheBound) {
  const MachineConfig machine = gc200();
  std::vector<Transfer> transfers;
  Transfer broadcast{{TileId{0}, kOut}, {}, 512};
  for (std::uint32_t t = 1; t < machine.tiles(); ++t) {
    broadcast.destinations.push_back({TileId{t}, kIn});
    transfers.push_back({{TileId{t}, kOut}, {{TileId{0}, kIn + t * 4}}, 1});
  }
  transfers.push_back(broadcast);
  const ExchangePhase phase = expect_moves(machine, transfers);
  report("broadcast 512 and gather 1", phase);
  EXPECT_LE(ratio(phase), 1.1);
}

TEST(HostPhase, SelectsTheHostWhileItSends) {
  const MachineConfig machine = small64();
  const std::vector<HostSend> sends = {{TileId{2}, kOut, 400}, {TileId{2}, kIn, 8}};
  const std::vector<TileId> tiles = {TileId{1}, TileId{2}};
  const std::vector<ExchangeRow> rows = encode_host_phase(machine, sends, tiles);
  ASSERT_EQ(rows.size(), 2U);
  for (const ExchangeRow& row : rows) {
    EXPECT_EQ(row.code.front(), 0x41800004U);
    EXPECT_EQ(row.code.back(), 0x41800004U);
    EXPECT_EQ(row.code.size() % 2, 0U);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sent;
  std::vector<std::uint32_t> muxes;
  std::uint64_t open = 0;
  for (const PortEvent& event : test::RowDecoder(0).run(rows[1].code)) {
    if (event.kind == PortEvent::Kind::kMux) {
      if (muxes.empty() || muxes.back() != event.value) muxes.push_back(event.value);
      open = event.cycle;
    }
    if (event.kind == PortEvent::Kind::kSend) {
      EXPECT_GE(event.cycle, open);
      for (std::uint32_t w = 0; w < event.words; ++w) {
        sent.push_back({event.value + 4 * w, 1});
      }
    }
  }
  EXPECT_EQ(muxes, (std::vector<std::uint32_t>{kMuxHost})) << "packets may come until the end";
  ASSERT_EQ(sent.size(), 102U);
  EXPECT_EQ(sent[0].first, kOut);
  EXPECT_EQ(sent[99].first, kOut + 396);
  EXPECT_EQ(sent[100].first, kIn);
}

}  // namespace
}  // namespace superstep
