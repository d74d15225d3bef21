#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gc200.h"
#include "tests/sim/programs.h"

namespace superstep {
namespace {

constexpr std::uint32_t kWords = 4;  ///< that each tile gives back

/// Programs of named tiles of a whole chip; each tile gives the first words of its kData back.
class NamedTiles {
 public:
  NamedTiles() { image_.machine = gc200(); }
  void add(std::uint32_t tile, const std::string& body) {
    add_program(image_, tile,
                "sync 4\n sync 4\n setzi $m9, 0x80000\n" + body +
                    "sync 4\n delayxpic 0, 0, 0x600\n send 3, 0x20000, 3\n"
                    "delayxpic 0, 0, 0x640\n sync 4\n sync 4\n");
    const std::uint64_t bytes = 4 * kWords;
    pieces_.push_back({TileId{tile}, kData, 4 * kWords, {{0, bytes * pieces_.size(), 4 * kWords}}});
  }
  void put(std::uint32_t tile, std::uint32_t address, const std::vector<std::uint8_t>& bytes) {
    image_.segments.push_back({{TileId{tile}}, address, bytes});
  }
  MachineConfig& machine() { return image_.machine; }

  RunResult run() {
    const TensorType type{DType::kU32, {static_cast<std::int64_t>(kWords * pieces_.size())}};
    image_.streams = {{Stream::Kind::kResult, 0, type, pieces_}};
    image_.results = {type};
    image_.alias = {std::nullopt};
    image_.last.results = {0};
    std::sort(image_.entries.begin(), image_.entries.end(),
              [](const TileEntry& a, const TileEntry& b) { return a.tile < b.tile; });
    return run_image(image_, {}, {});
  }
  /// Word `word` of the `ordinal`-th tile added.
  static std::uint32_t word(const RunResult& result, std::size_t ordinal, std::size_t word) {
    return result.results.at(0).get<std::uint32_t>(kWords * ordinal + word);
  }

 private:
  ProgramImage image_;
  std::vector<StreamPiece> pieces_;
};

struct SkewedTile {
  std::uint32_t tile;
  std::uint32_t skew;  ///< of its release
};

// Rows add 1; columns 1 and 7 of the west side 4 and 34, columns 8 and 15 of the east 36 and 8
// (osmarks/ipu-stack crates/ipu-target/src/topology.rs).
constexpr SkewedTile kFirst{0, 0};           ///< row 0, column 0
constexpr SkewedTile kTopOfColumn0{44, 22};  ///< row 22
constexpr SkewedTile kNeighbour{46, 22};     ///< row 22, another lane
constexpr SkewedTile kRow3{6, 3};            ///< row 3, column 0
constexpr SkewedTile kColumn1{92, 4};        ///< row 0
constexpr SkewedTile kColumn7{92 * 7, 34};
constexpr SkewedTile kColumn8{92 * 8, 36};
constexpr SkewedTile kTopOfColumn8{92 * 8 + 44, 58};  ///< the last tile to leave a barrier
constexpr SkewedTile kColumn15{92 * 15, 8};
constexpr SkewedTile kLast{1471, 8};  ///< row 0, column 15

TEST(BarrierTiming, OpensAtTheLastArrivalPlusTheLatencyAndReleasesEachTileAtItsSkew) {
  const std::vector<SkewedTile> tiles = {kFirst,   kRow3,    kTopOfColumn0, kNeighbour, kColumn1,
                                         kColumn7, kColumn8, kTopOfColumn8, kColumn15,  kLast};
  for (const std::uint32_t late : {0U, 4U, 9U}) {
    NamedTiles chip;
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
      // The clock when it arrives, less one, and the clock when it is released; then the second
      // barrier opens for all.
      chip.add(tiles[i].tile, "delay " + std::to_string(i == late ? 5000 : 17 * i) +
                                  "\n get $m0, $COUNT_L\n sync 3\n get $m1, $COUNT_L\n"
                                  "st32 $m0, $m9, $m15, 0\n st32 $m1, $m9, $m15, 1\n");
    }
    const RunResult result = chip.run();
    ASSERT_FALSE(result.trap) << result.trap->text();
    const std::uint32_t opening = NamedTiles::word(result, late, 0) + 1 + 68;
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
      EXPECT_LE(NamedTiles::word(result, i, 0), NamedTiles::word(result, late, 0));
      EXPECT_EQ(NamedTiles::word(result, i, 1), opening + tiles[i].skew) << tiles[i].tile;
    }
  }
}

TEST(BarrierTiming, FollowsTheNumbersOfTheMachine) {
  NamedTiles chip;
  chip.machine().sync.internal_latency = 100;
  chip.machine().sync.skew_per_row = 3;
  chip.add(kFirst.tile,
           "delay 50\n get $m0, $COUNT_L\n sync 3\n get $m1, $COUNT_L\n"
           "st32 $m0, $m9, $m15, 0\n st32 $m1, $m9, $m15, 1\n");
  chip.add(kRow3.tile, "sync 3\n get $m1, $COUNT_L\n st32 $m1, $m9, $m15, 1\n");
  const RunResult result = chip.run();
  ASSERT_FALSE(result.trap) << result.trap->text();
  const std::uint32_t last_arrival = NamedTiles::word(result, 0, 0) + 1;
  EXPECT_EQ(NamedTiles::word(result, 0, 1), last_arrival + 100);
  EXPECT_EQ(NamedTiles::word(result, 1, 1), last_arrival + 100 + 9);
}

// `sans` arrives for an idle tile: the barrier opens as if it waited there.
TEST(BarrierTiming, ATileThatAcknowledgesAheadArrivesThen) {
  for (const bool late : {false, true}) {
    NamedTiles chip;
    chip.add(kFirst.tile,
             "delay 500\n get $m0, $COUNT_L\n sync 3\n get $m1, $COUNT_L\n"
             "st32 $m0, $m9, $m15, 0\n st32 $m1, $m9, $m15, 1\n");
    // Late: what it does after `sans` ends long after the barrier has opened.
    chip.add(kRow3.tile, std::string("sans 0\n get $m0, $COUNT_L\n") + (late ? "delay 999\n" : "") +
                             "sync 1\n get $m1, $COUNT_L\n"
                             "st32 $m0, $m9, $m15, 0\n st32 $m1, $m9, $m15, 1\n");
    const RunResult result = chip.run();
    ASSERT_FALSE(result.trap) << result.trap->text();
    const std::uint32_t opening = NamedTiles::word(result, 0, 0) + 1 + 68;
    EXPECT_EQ(NamedTiles::word(result, 0, 1), opening);
    const std::uint32_t acknowledged = NamedTiles::word(result, 1, 0) - 1;
    EXPECT_EQ(NamedTiles::word(result, 1, 1),
              late ? acknowledged + 1 + 1 + 1000 + 1 : opening + kRow3.skew);
  }
}

struct Route {
  SkewedTile from, to;
  std::uint32_t latency;
};

// Latencies of the same source: 35 … 71 from column 0 to columns 1 to 7, 91 … 42 to columns 8 to
// 15, 32 within a column, 32 + 5 x 7 from column 7 to column 15, and 1 for each row at either end.
const std::vector<Route> kRoutes = {
    {kFirst, kColumn1, 35},          {kColumn1, kFirst, 35},
    {kFirst, kColumn7, 71},          {kColumn7, kFirst, 71},
    {kFirst, kColumn8, 91},          {kColumn8, kFirst, 91},
    {kFirst, kColumn15, 42},         {kLast, kFirst, 42},
    {kColumn7, kColumn15, 67},       {kFirst, kTopOfColumn0, 54},
    {kTopOfColumn0, kNeighbour, 76}, {kRow3, kColumn8, 94},
    {kRow3, kTopOfColumn8, 116},     {kFirst, {1, 0}, 32},
};

/// Sends 8 words, 10 to 17, and receives four of them: the mux is open when word `first` and the
/// three after it should arrive.
RunResult transfer(const Route& route, int first) {
  NamedTiles chip;
  constexpr int kSendCycle = 100;  // of the sender's row
  const int open = kSendCycle + static_cast<int>(route.from.skew) -
                   static_cast<int>(route.to.skew) + static_cast<int>(route.latency) + first;
  chip.add(route.from.tile,
           "sync 3\n delay " + std::to_string(kSendCycle - 1) + "\n send 7, 0x20010, 3\n");
  chip.add(route.to.tile, "sync 3\n delay " + std::to_string(open - 2) +
                              "\n delaypic 0, 0, 0x20000\n delayxpic 0, 0, " +
                              std::to_string(route.from.tile) + "\n delayxpic 3, 0, 0x640\n");
  std::vector<std::uint8_t> bytes(32);
  for (std::uint8_t i = 0; i < 8; ++i) bytes[4U * i] = static_cast<std::uint8_t>(10 + i);
  chip.put(route.from.tile, kData + 0x40, bytes);
  return chip.run();
}

TEST(ExchangeTiming, AWordArrivesAtItsLatencyAndInNoOtherCycle) {
  for (const Route& route : kRoutes) {
    SCOPED_TRACE(std::to_string(route.from.tile) + " to " + std::to_string(route.to.tile));
    for (const int first : {0, 1, 2, 3, 4}) {
      const RunResult result = transfer(route, first);
      ASSERT_FALSE(result.trap) << result.trap->text();
      for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(NamedTiles::word(result, 1, i), 10U + static_cast<std::uint32_t>(first) + i);
      }
    }
    // A cycle before the first word and one after the last the bus is silent.
    for (const int first : {-1, 5}) {
      const RunResult result = transfer(route, first);
      ASSERT_TRUE(result.trap);
      EXPECT_EQ(result.trap->tile, TileId{route.to.tile});
      EXPECT_NE(result.trap->cause.find("no word of it arrives"), std::string::npos)
          << result.trap->text();
    }
  }
}

TEST(ExchangeTiming, FollowsTheNumbersOfTheMachine) {
  // Arrives five cycles later on a machine whose latency within a column is greater by five.
  Route route{kFirst, kTopOfColumn0, 54 + 5};
  NamedTiles chip;
  chip.machine().exchange.same_column_latency += 5;
  chip.add(0, "sync 3\n delay 99\n send 0, 0x20010, 3\n");
  chip.add(44, "sync 3\n delay " + std::to_string(100 - 22 + route.latency - 2) +
                   "\n delaypic 0, 0, 0x20000\n delayxpic 0, 0, 0\n delayxpic 0, 0, 0x640\n");
  chip.put(0, kData + 0x40, {7, 0, 0, 0});
  const RunResult result = chip.run();
  ASSERT_FALSE(result.trap) << result.trap->text();
  EXPECT_EQ(NamedTiles::word(result, 1, 0), 7U);
}

// The row of the SDK that is public: four multicasts of 52 words back to back, received without a
// gap (osmarks/ipu-stack docs/EXCHANGE_INSTRUCTION_REFERENCE.md).
TEST(ExchangeTiming, FourSendersFollowEachOtherWithoutAGap) {
  NamedTiles chip;
  // Tiles 0 … 3 lie in rows 0 and 1 of column 0: each row is 1 of skew and 1 of latency.
  for (std::uint32_t sender = 0; sender < 4; ++sender) {
    const std::uint32_t row = sender / 2;
    // Word 0 is to arrive 200 + 52 sender cycles after the opening at tile 4, row 2: 34 + row
    // after it was sent, which is row + the delay after the opening.
    const std::uint32_t delay = 200 + 52 * sender - (34 + row) - row;
    chip.add(sender, "sync 3\n delay " + std::to_string(delay - 1) + "\n send 51, 0x20010, 3\n");
    std::vector<std::uint8_t> bytes(4 * 52);
    for (std::uint32_t i = 0; i < 52; ++i) {
      bytes[4 * i] = static_cast<std::uint8_t>(i);
      bytes[4 * i + 1] = static_cast<std::uint8_t>(sender);
    }
    chip.put(sender, kData + 0x40, bytes);
  }
  chip.add(4,
           "sync 3\n delay 196\n delaypic 0, 0, 0x20100\n"  // in cycle 197 of the row, 199 in all
           "delayxpic 0, 0, 0\n delayxpic 51, 0, 1\n delayxpic 51, 0, 2\n delayxpic 51, 0, 3\n"
           "delayxpic 51, 0, 0x640\n"
           // The first and last word, and those at one seam.
           "setzi $m8, 0x80400\n ld32 $m0, $m8, $m15, 0\n ld32 $m1, $m8, $m15, 103\n"
           "ld32 $m2, $m8, $m15, 104\n ld32 $m3, $m8, $m15, 207\n"
           "st32 $m0, $m9, $m15, 0\n st32 $m1, $m9, $m15, 1\n st32 $m2, $m9, $m15, 2\n"
           "st32 $m3, $m9, $m15, 3\n");
  const RunResult result = chip.run();
  ASSERT_FALSE(result.trap) << result.trap->text();
  EXPECT_EQ(NamedTiles::word(result, 4, 0), 0x000U);
  EXPECT_EQ(NamedTiles::word(result, 4, 1), 0x100U + 51);
  EXPECT_EQ(NamedTiles::word(result, 4, 2), 0x200U);
  EXPECT_EQ(NamedTiles::word(result, 4, 3), 0x300U + 51);
}

}  // namespace
}  // namespace superstep
