#include "sim/exchange/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "isa/exchange_ports.h"
#include "isa/timing.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

constexpr std::uint32_t kSource = 0x80000;  // region 1
constexpr std::uint32_t kTarget = 0x90000;
constexpr std::uint32_t kPc = 0x40;  // of sends, below all memory: no code is fetched

class FabricTest : public ::testing::Test {
 protected:
  FabricTest() {
    machine_.grid = {1, 1, 4};
    memory_.resize(4);
    events_.resize(4);
    logs_.resize(4);
    for (std::uint32_t t = 0; t < 4; ++t) {
      memory_[t].resize(machine_.tile.memory_bytes);
      for (std::uint32_t w = 0; w < 256; ++w) put(t, kSource + w * 4, t << 16 | w);
    }
  }

  void put(std::uint32_t tile, std::uint32_t address, std::uint32_t value) {
    std::memcpy(&memory_[tile][address - machine_.tile.memory_base], &value, 4);
  }
  std::uint32_t get(std::uint32_t tile, std::uint32_t address) {
    std::uint32_t value;
    std::memcpy(&value, &memory_[tile][address - machine_.tile.memory_base], 4);
    return value;
  }

  void send(std::uint32_t tile, std::uint64_t cycle, std::uint32_t address, std::uint32_t words) {
    events_[tile].push_back({PortEvent::Kind::kSend, 3, kPc, cycle, address, words});
  }
  void mux(std::uint32_t tile, std::uint64_t cycle, std::uint32_t source) {
    events_[tile].push_back({PortEvent::Kind::kMux, 0, 0, cycle, source, 0});
  }
  void pointer(std::uint32_t tile, std::uint64_t cycle, std::uint32_t address) {
    events_[tile].push_back({PortEvent::Kind::kPointer, 0, 0, cycle, address, 0});
  }

  std::vector<FabricPort> ports() {
    for (std::vector<PortEvent>& events : events_) {
      std::stable_sort(events.begin(), events.end(),
                       [](const PortEvent& a, const PortEvent& b) { return a.cycle < b.cycle; });
    }
    std::vector<FabricPort> ports;
    for (std::uint32_t t = 0; t < 4; ++t) {
      logs_[t].clear();
      for (const PortEvent& event : events_[t]) logs_[t].add(event);
      ports.push_back({TileId{t}, &logs_[t], memory_[t], sent_[t]});
    }
    return ports;
  }
  FabricResult resolve() { return Fabric(machine_).resolve(ports()); }

  void delay_all(std::uint64_t cycles) {
    for (std::vector<PortEvent>& events : events_) {
      for (PortEvent& event : events) event.cycle += cycles;
    }
  }

  /// Tile 0 sends ten words to tile 1.
  void ten_words() {
    send(0, 1000, kSource, 10);
    mux(1, 1032, 0);
    pointer(1, 1032, kTarget);
    mux(1, 1042, kMuxIdle);
  }

  std::string cause() {
    const FabricResult result = resolve();
    return result.fault ? result.fault->cause : "no fault";
  }

  MachineConfig machine_ = gc200();  // every latency is 32: one row, one column
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::vector<PortEvent>> events_;
  std::vector<PortLog> logs_;
  std::array<std::vector<SentWord>, 4> sent_;
};

TEST_F(FabricTest, MovesWordsAsTheyWereWhenTheyLeft) {
  // The third word changed before it left twice, and the fourth is one of the second send only.
  send(0, 1000, kSource, 4);
  send(0, 1004, kSource, 4);
  sent_[0] = {{1002, kSource + 8, 77}, {1006, kSource + 8, 78}, {1007, kSource + 12, 79}};
  for (const std::uint32_t receiver : {1U, 2U}) {
    mux(receiver, 1033, 0);
    pointer(receiver, 1033, kTarget);
    mux(receiver, 1039, kMuxIdle);
  }
  const FabricResult result = resolve();
  ASSERT_FALSE(result.fault) << result.fault->cause;
  const std::vector<std::uint32_t> expected = {1, 77, 3, 0, 1, 78};
  for (std::uint32_t w = 0; w < 6; ++w) {
    EXPECT_EQ(get(1, kTarget + w * 4), expected[w]) << w;
    EXPECT_EQ(get(2, kTarget + w * 4), expected[w]) << w;
  }
}

TEST_F(FabricTest, CopiesTheWordsThatArriveWhileTheMuxSelectsTheSender) {
  send(0, 1000, kSource, 10);
  mux(1, 1032, 0);
  pointer(1, 1032, kTarget);
  mux(1, 1042, kMuxIdle);
  const FabricResult result = resolve();
  ASSERT_FALSE(result.fault) << result.fault->cause;
  EXPECT_EQ(result.bytes, 40U);
  EXPECT_EQ(result.last_event, 1042U);
  EXPECT_EQ(result.ports[0].last_event, 1009U);
  EXPECT_EQ(result.ports[1].last_event, 1042U);
  EXPECT_EQ(result.ports[2].last_event, 0U);
  for (std::uint32_t w = 0; w < 10; ++w) EXPECT_EQ(get(1, kTarget + w * 4), w);
  EXPECT_EQ(get(1, kTarget + 40), 0U);
}

TEST_F(FabricTest, TakesAPartOfASendFromTheMiddle) {
  send(0, 0, kSource, 100);
  mux(1, 52, 0);
  pointer(1, 52, kTarget);
  pointer(1, 54, kTarget + 64);
  mux(1, 55, kMuxIdle);
  ASSERT_EQ(cause(), "no fault");
  EXPECT_EQ(get(1, kTarget), 20U);
  EXPECT_EQ(get(1, kTarget + 4), 21U);
  EXPECT_EQ(get(1, kTarget + 8), 0U);
  EXPECT_EQ(get(1, kTarget + 64), 22U);
}

TEST_F(FabricTest, ThePointerAdvancesFromOneSourceToTheNext) {
  send(0, 0, kSource, 5);
  send(2, 5, kSource, 5);
  mux(1, 32, 0);
  pointer(1, 32, kTarget);
  mux(1, 37, 2);
  mux(1, 42, kMuxIdle);
  ASSERT_EQ(cause(), "no fault");
  EXPECT_EQ(get(1, kTarget + 16), 4U);
  EXPECT_EQ(get(1, kTarget + 20), 2U << 16);
}

TEST_F(FabricTest, OneSendReachesEveryTileThatListensItsSenderToo) {
  send(0, 0, kSource, 8);
  for (std::uint32_t t = 0; t < 4; ++t) {
    mux(t, 32, 0);
    pointer(t, 32, kTarget + t * 64);
    mux(t, 40, kMuxIdle);
  }
  const FabricResult result = resolve();
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(result.bytes, 4U * 32U);
  for (std::uint32_t t = 0; t < 4; ++t) EXPECT_EQ(get(t, kTarget + t * 64 + 28), 7U);
}

// Tile 0 sends in cycles 0 to 7; all receive in cycles 32 to 39, tile 1 also in 40 to 43.
TEST_F(FabricTest, CountsWhatGoesThroughEachPort) {
  send(0, 0, kSource, 8);
  send(2, 8, kSource, 4);
  for (std::uint32_t t = 0; t < 4; ++t) {
    mux(t, 32, 0);
    pointer(t, 32, kTarget);
    mux(t, 40, t == 1 ? 2 : kMuxIdle);
  }
  mux(1, 44, kMuxIdle);
  const FabricResult result = resolve();
  ASSERT_FALSE(result.fault) << result.fault->cause;
  const auto traffic = [&](std::uint32_t tile) {
    const PortTraffic& t = result.ports[tile].traffic;
    return std::vector<std::uint64_t>{t.sent_bytes, t.received_bytes, t.busy_cycles, t.messages};
  };
  EXPECT_EQ(traffic(0), (std::vector<std::uint64_t>{32, 32, 16, 1}));
  EXPECT_EQ(traffic(1), (std::vector<std::uint64_t>{0, 48, 12, 2}));
  EXPECT_EQ(traffic(2), (std::vector<std::uint64_t>{16, 32, 12, 1}));
  EXPECT_EQ(traffic(3), (std::vector<std::uint64_t>{0, 32, 8, 1}));
}

TEST_F(FabricTest, CountsHowFarEachWordGoes) {
  machine_.grid = {2, 2, 1};
  machine_.sync.column_skew.resize(2);
  // Tiles go up the first column and down the second.
  send(0, 0, kSource, 8);
  for (std::uint32_t t = 0; t < 4; ++t) {
    const std::uint64_t arrival = exchange_latency(machine_, TileId{0}, TileId{t}).value();
    mux(t, arrival, 0);
    pointer(t, arrival, kTarget);
    mux(t, arrival + 8, kMuxIdle);
  }
  const FabricResult result = resolve();
  ASSERT_FALSE(result.fault) << result.fault->cause;
  const auto way = [&](std::uint32_t tile) {
    const PortTraffic& t = result.ports[tile].traffic;
    return std::pair(t.word_rows, t.word_columns);
  };
  EXPECT_EQ(way(0), std::pair(0UL, 0UL));
  EXPECT_EQ(way(1), std::pair(8UL, 0UL));
  EXPECT_EQ(way(2), std::pair(8UL, 8UL));
  EXPECT_EQ(way(3), std::pair(0UL, 8UL));
}

TEST_F(FabricTest, TilesMaySwapAWordInPlace) {
  for (std::uint32_t t = 0; t < 2; ++t) {
    send(t, 0, kSource, 1);
    mux(t, 32, 1 - t);
    pointer(t, 32, kSource);
    mux(t, 33, kMuxIdle);
  }
  ASSERT_EQ(cause(), "no fault");
  EXPECT_EQ(get(0, kSource), 1U << 16);
  EXPECT_EQ(get(1, kSource), 0U);
}

TEST_F(FabricTest, AMuxOnASilentBusNamesBothTiles) {
  send(0, 0, kSource, 4);
  mux(1, 32, 0);
  pointer(1, 32, kTarget);
  mux(1, 37, kMuxIdle);
  const FabricResult result = resolve();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->tile, TileId{1});
  EXPECT_EQ(result.fault->cycle, 36U);
  EXPECT_NE(result.fault->cause.find("mux selects tile 0"), std::string::npos);
  EXPECT_EQ(get(1, kTarget), 0U) << "nothing moves in a phase that traps";
}

TEST_F(FabricTest, OneCycleTooEarlyIsSilent) {
  send(0, 0, kSource, 4);
  mux(1, 31, 0);
  pointer(1, 31, kTarget);
  mux(1, 35, kMuxIdle);
  EXPECT_NE(cause().find("no word of it arrives at cycle 31"), std::string::npos) << cause();
}

TEST_F(FabricTest, TheEarliestFaultOfTheLowestTileIsReported) {
  mux(3, 40, 0);
  mux(2, 30, 0);
  mux(1, 30, 3);
  const FabricResult result = resolve();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->tile, TileId{1});
  EXPECT_EQ(result.fault->cycle, 30U);
}

TEST_F(FabricTest, AWordWithoutAPointerIsAFault) {
  send(0, 0, kSource, 4);
  mux(1, 32, 0);
  mux(1, 36, kMuxIdle);
  EXPECT_NE(cause().find("before its incoming pointer is set"), std::string::npos);
}

TEST_F(FabricTest, AReceivePastTheEndOfMemoryIsAFault) {
  send(0, 0, kSource, 4);
  mux(1, 32, 0);
  pointer(1, 32, machine_.memory_end() - 8);
  mux(1, 36, kMuxIdle);
  EXPECT_NE(cause().find("outside tile memory"), std::string::npos);
}

TEST_F(FabricTest, ASendAndAReceiveInOneElementAndCycleConflict) {
  send(0, 0, kSource, 8);
  send(1, 36, kSource, 8);
  mux(1, 32, 0);
  pointer(1, 32, kSource + 0x1000);
  mux(1, 40, kMuxIdle);
  EXPECT_NE(cause().find("same memory element and cycle"), std::string::npos);
}

TEST_F(FabricTest, ASendAndAReceiveInDifferentElementsDoNot) {
  send(0, 0, kSource, 8);
  send(1, 32, kSource, 8);
  mux(1, 32, 0);
  pointer(1, 32, kSource + 0x8000);
  mux(1, 40, kMuxIdle);
  EXPECT_EQ(cause(), "no fault");
}

TEST_F(FabricTest, InterleavedElementsTakeASendAndAReceiveEightBytesApart) {
  send(0, 0, kSource, 8);
  send(1, 32, kSource, 8);
  mux(1, 32, 0);
  pointer(1, 32, kSource + 0x1008);
  mux(1, 40, kMuxIdle);
  EXPECT_EQ(cause(), "no fault");
}

TEST_F(FabricTest, SendingWhatWasJustOverwrittenIsAFault) {
  send(0, 0, kSource, 4);
  mux(1, 32, 0);
  pointer(1, 32, kSource);
  mux(1, 36, kMuxIdle);
  send(1, 100, kSource, 4);
  EXPECT_NE(cause().find("after it was overwritten at cycle 32 by tile 0"), std::string::npos);
}

TEST_F(FabricTest, DataInTheElementOfTheExchangeCodeIsAFault) {
  events_[0].push_back({PortEvent::Kind::kSend, 3, 0x4c100, 0, 0x4d000, 4});
  EXPECT_NE(cause().find("element of the exchange code"), std::string::npos);
}

TEST_F(FabricTest, HostSelectionsAndDirectionlessSendsMoveNothing) {
  events_[0].push_back({PortEvent::Kind::kSend, 0, 0, 5, 0, 4});
  mux(0, 1, kMuxHost);
  mux(0, 9, kMuxIdle);
  const FabricResult result = resolve();
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(result.bytes, 0U);
}

TEST_F(FabricTest, WordsTakeAsLongAsALawOfItsUserSays) {
  send(0, 1000, kSource, 10);
  for (const auto& [tile, way] : {std::pair{1U, 40U}, {2U, 7U}}) {
    mux(tile, 1000 + way, 0);
    pointer(tile, 1000 + way, kTarget);
    mux(tile, 1010 + way, kMuxIdle);
  }
  const auto law = [](TileId, TileId to) { return to == TileId{1} ? 40_cycles : 7_cycles; };
  const FabricResult result = Fabric(machine_, 0, law).resolve(ports());
  ASSERT_FALSE(result.fault) << result.fault->cause;
  EXPECT_EQ(result.bytes, 80U);
  for (const std::uint32_t tile : {1U, 2U}) EXPECT_EQ(get(tile, kTarget + 36), 9U);
  EXPECT_EQ(result.ports[1].last_event, 1050U);
  EXPECT_EQ(result.ports[2].last_event, 1017U);
  EXPECT_TRUE(resolve().fault);
}

TEST_F(FabricTest, APhaseThatRepeatsLaterMovesTheWordsOfItsTime) {
  ten_words();
  Fabric fabric(machine_, 1);
  const FabricResult first = fabric.resolve(ports());
  delay_all(5000);
  put(0, kSource + 36, 77);
  const FabricResult& second = fabric.resolve(ports());
  EXPECT_EQ(fabric.repeats(), 1U);
  EXPECT_EQ(get(1, kTarget + 36), 77U);
  EXPECT_EQ(second.bytes, 40U);
  EXPECT_EQ(second.last_event, 6042U);
  for (std::uint32_t t = 0; t < 4; ++t) {
    const PortResult& before = first.ports[t];
    const PortResult& after = second.ports[t];
    EXPECT_EQ(after.last_event, before.last_event == 0 ? 0 : before.last_event + 5000);
    EXPECT_EQ(after.lowest_write, before.lowest_write);
    EXPECT_EQ(after.traffic, before.traffic);
  }
}

TEST_F(FabricTest, APhaseThatDiffersInOneFieldOfOneEventIsAnotherOne) {
  ten_words();
  pointer(1, 1036, kTarget + 64);
  Fabric fabric(machine_, 1);
  static_cast<void>(fabric.resolve(ports()));
  // In order of cycles: mux, pointer, pointer, mux.
  const PortEvent original = events_[1][2];
  const auto expect_another = [&](PortEvent changed, std::uint32_t fifth_word) {
    events_[1][2] = changed;
    put(1, fifth_word, 0);
    EXPECT_FALSE(fabric.resolve(ports()).fault);
    EXPECT_EQ(get(1, fifth_word), 4U);
    EXPECT_EQ(fabric.repeats(), 0U);
  };
  PortEvent changed = original;
  changed.pc = 4;
  expect_another(changed, kTarget + 64);
  changed = original;
  changed.value = kTarget + 128;
  expect_another(changed, kTarget + 128);
  changed = original;
  changed.cycle = 1035;
  expect_another(changed, kTarget + 68);
  changed = original;
  changed.kind = PortEvent::Kind::kSend;
  changed.value = kSource;
  expect_another(changed, kTarget + 16);
}

TEST_F(FabricTest, MovesTheSameWordsHoweverManyPhasesThereAreBesideThoseThatItKeeps) {
  constexpr std::uint32_t kKept = 1024, kPhases = kKept + 76;
  Fabric fabric(machine_, 1);
  // A phase of one word to an address of its own.
  const auto moves = [&](std::uint32_t phase, std::uint32_t value) {
    for (std::vector<PortEvent>& events : events_) events.clear();
    send(0, 1000, kSource, 1);
    mux(1, 1032, 0);
    pointer(1, 1032, kTarget + 4 * phase);
    mux(1, 1033, kMuxIdle);
    put(0, kSource, value);
    const FabricResult& result = fabric.resolve(ports());
    return !result.fault && result.bytes == 4 && result.last_event == 1033 &&
           result.ports[1].lowest_write == kTarget + 4 * phase &&
           get(1, kTarget + 4 * phase) == value;
  };
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t phase = 0; phase < kPhases; ++phase) {
      EXPECT_TRUE(moves(phase, kPhases * round + phase)) << phase;
    }
    EXPECT_EQ(fabric.repeats(), round * kKept) << "the others do not displace them";
  }
}

TEST_F(FabricTest, APhaseOfWhichOneTileIsLaterIsAnotherOne) {
  ten_words();
  send(2, 1000, kSource, 1);
  Fabric fabric(machine_, 1);
  static_cast<void>(fabric.resolve(ports()));
  events_[2][0].cycle = 1001;
  EXPECT_EQ(fabric.resolve(ports()).ports[2].last_event, 1001U);
  EXPECT_EQ(fabric.repeats(), 0U);
}

TEST_F(FabricTest, WordsSwappedInPlaceAreSwappedBackByTheNextPhase) {
  for (std::uint32_t t = 0; t < 2; ++t) {
    send(t, 0, kSource, 1);
    mux(t, 32, 1 - t);
    pointer(t, 32, kSource);
    mux(t, 33, kMuxIdle);
  }
  Fabric fabric(machine_, 1);
  static_cast<void>(fabric.resolve(ports()));
  EXPECT_EQ(get(0, kSource), 1U << 16);
  static_cast<void>(fabric.resolve(ports()));
  EXPECT_EQ(get(0, kSource), 0U);
  EXPECT_EQ(get(1, kSource), 1U << 16);
  EXPECT_EQ(fabric.repeats(), 1U);
}

TEST_F(FabricTest, APhaseWithAFaultIsResolvedAgainAndNamesItsOwnCycle) {
  send(0, 0, kSource, 4);
  mux(1, 31, 0);
  pointer(1, 31, kTarget);
  mux(1, 35, kMuxIdle);
  Fabric fabric(machine_, 1);
  for (const std::uint64_t cycle : {31U, 1031U}) {
    const FabricResult& result = fabric.resolve(ports());
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->cycle, cycle);
    EXPECT_EQ(result.bytes, 0U);
    delay_all(1000);
  }
  EXPECT_EQ(fabric.repeats(), 0U);
}

TEST_F(FabricTest, TwoWordsOnOneLinkAreATrapThatNamesBoth) {
  machine_.exchange.fabric = FabricKind::kRing;
  for (const std::uint64_t cycle : {102U, 101U}) {
    for (std::vector<PortEvent>& events : events_) events.clear();
    send(0, 100, kSource, 1);
    mux(2, 122, 0);
    pointer(2, 122, kTarget);
    mux(2, 123, kMuxIdle);
    send(1, cycle, kSource + 8, 1);
    mux(3, cycle + 22, 1);
    pointer(3, cycle + 22, kTarget);
    mux(3, cycle + 23, kMuxIdle);
    const FabricResult result = resolve();
    ASSERT_EQ(result.fault.has_value(), cycle == 101);
    if (!result.fault) continue;
    EXPECT_EQ(result.fault->cycle, 101U);
    EXPECT_EQ(result.fault->tile, TileId{1});
    EXPECT_EQ(result.fault->pc, kPc);
    EXPECT_EQ(result.fault->cause,
              "two words on the link of tile 1 upwards in one cycle: that of tile 0 at 0x80000 to "
              "tile 2 and that of tile 1 at 0x80008 to tile 3");
  }
}

}  // namespace
}  // namespace superstep
