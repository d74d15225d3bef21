#include <gtest/gtest.h>

#include <cstring>

#include "sim/run_image.h"
#include "tests/gc200.h"
#include "tests/sim/programs.h"

namespace superstep {
namespace {

TEST(Exchange, EndsWithTheLastPortEventOfTheCriticalTile) {
  const Recorded run = record(one_transfer("delay 99\n"));
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  ASSERT_EQ(run.supersteps.size(), 3u);
  const SuperstepRecord& moved = run.supersteps[1];
  EXPECT_EQ(moved.critical, TileId{1});
  EXPECT_EQ(moved.exchange_bytes, 16u);
  // Released 4 cycles after the opening; the mux is idle again in cycle 36 of the row.
  EXPECT_EQ(moved.exchange, 41_cycles);
  EXPECT_EQ(moved.compute, 100_cycles);
  EXPECT_EQ(moved.sync, 68_cycles);
}

TEST(Exchange, IsIdleForATileInItsCyclesWithoutAWord) {
  const Recorded run = record(one_transfer(""));
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  // The sender is released after 4 cycles and sends in the 4 behind; the receiver has a word in 4
  // of its 41 cycles.
  EXPECT_EQ(run.tiles[1][0].exchange, 8u);
  EXPECT_EQ(run.tiles[1][0].exchange_idle, 4u);
  EXPECT_EQ(run.tiles[1][1].exchange, 41u);
  EXPECT_EQ(run.tiles[1][1].exchange_idle, 37u);
  EXPECT_EQ(run.tiles[0][1].exchange_idle, 0u) << "no exchange";
}

TEST(Exchange, OfASuperstepAddsUpHowFarItsWordsGo) {
  ProgramImage image = one_transfer("");
  image.machine = gc200();
  image.machine.grid = {2, 1, 1};
  image.machine.sync.skew_per_row = 0;
  image.machine.exchange.per_row_latency = 0;
  const Recorded run = record(image);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.supersteps[1].word_rows, 4u);
  EXPECT_EQ(run.supersteps[1].word_columns, 0u);
  EXPECT_EQ(run.tiles[1][0].word_rows, 0u);
  EXPECT_EQ(run.tiles[1][1].word_rows, 4u);
  EXPECT_EQ(run.supersteps[0].word_rows, 0u);
}

TEST(Exchange, HasArrivedWhenTheTileReadsTheWords) {
  // The tile stores the last word it received where the next phase's row is to send from.
  ProgramImage image = one_transfer(
      "setzi $m1, 0x80000\n"
      "ld32 $m2, $m1, $m15, 3\n"
      "st32 $m2, $m1, $m15, 4\n");
  Stream result{
      Stream::Kind::kResult, 0, {DType::kU32, {1}}, {{TileId{1}, kData + 16, 4, {{0, 0, 4}}}}};
  image.streams = {result};
  image.results = {result.type};
  image.alias = {std::nullopt};
  image.last.results = {0};
  const std::string visit_twice = "sync 4\n sync 4\n sync 4\n";
  image.segments.erase(image.segments.begin(), image.segments.begin() + 2);
  image.entries.clear();
  add_program(image, 0,
              "sync 3\n send 3, 0x20000, 3\n sync 3\n" + visit_twice + "sync 4\n sync 4\n");
  add_program(image, 1,
              "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n delayxpic 3, 0, 0x640\n"
              "setzi $m1, 0x80000\n ld32 $m2, $m1, $m15, 3\n st32 $m2, $m1, $m15, 4\n sync 3\n" +
                  visit_twice +
                  "delayxpic 0, 0, 0x600\n send 0, 0x20004, 3\n delayxpic 0, 0, 0x640\n"
                  "sync 4\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.result.results[0].get<std::uint32_t>(0), 0x100f0e0du);
}

TEST(Exchange, AfterTheWordsWereUsedIsATrap) {
  const Recorded run =
      record(one_transfer("setzi $m1, 0x80000\n ld32 $m2, $m1, $m15, 0\n send 0, 0x20000, 3\n"));
  ASSERT_TRUE(run.result.trap);
  EXPECT_NE(run.result.trap->cause.find("a sync must come between"), std::string::npos)
      << run.result.trap->text();
}

TEST(Exchange, InstructionsThatArriveAreThoseExecutedNext) {
  // Each trip tile 0 sends a `delay` of 16 cycles more, which tile 1 executes from where it
  // arrives.
  constexpr std::uint32_t kArrived = 0x50000;
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "setzi $m3, 4\n setzi $m2, 0x80000\n sync 3\n send 0, 0x20000, 3\n"
              "ld32 $m1, $m2, $m15, 0\n add $m1, $m1, 16\n st32 $m1, $m2, $m15, 0\n"
              "brnzdec $m3, 0x4c008\n sync 4\n");
  add_program(image, 1,
              "setzi $m3, 4\n setzi $m2, 0x50000\n sync 3\n delaypic 30, 0, 0x14000\n"
              "delayxpic 1, 0, 0\n delayxpic 0, 0, 0x640\n ld32 $m5, $m2, $m15, 0\n br $m2\n");
  const auto add_words = [&](std::uint32_t tile, std::uint32_t address, const std::string& text) {
    const std::vector<std::uint32_t> words = assemble(text, "test.S").words_at(address);
    Segment segment{{TileId{tile}}, address, {}};
    segment.bytes.resize(words.size() * 4);
    std::memcpy(segment.bytes.data(), words.data(), segment.bytes.size());
    image.segments.push_back(segment);
  };
  add_words(0, kData, "delay 16\n");
  add_words(1, kArrived, "delay 0\n brnzdec $m3, 0x4c008\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  ASSERT_EQ(run.supersteps.size(), 6U);
  for (std::size_t trip = 2; trip <= 4; ++trip) {
    EXPECT_EQ(run.supersteps[trip].exchange_bytes, 4U);
    EXPECT_EQ(run.tiles[trip][1].compute, run.tiles[trip - 1][1].compute + 16) << trip;
  }
}

TEST(Exchange, AFaultOfTheFabricIsATrapOfTheExchange) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n sync 3\n sync 4\n");  // silent
  add_program(image, 1,
              "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n delayxpic 3, 0, 0x640\n"
              "sync 3\n sync 4\n");
  const Recorded run = record(image);
  ASSERT_TRUE(run.result.trap);
  EXPECT_EQ(run.result.trap->context, "exchange");
  EXPECT_EQ(run.result.trap->tile, TileId{1});
  EXPECT_EQ(run.result.trap->superstep, 1u);
}

/// Tile 0 sends words, 32 cycles away, to tile 1, which loads one while its mux still selects tile
/// 0. Both leave the barrier, which tile 1 comes to in cycle 1, in cycle 73.
std::optional<Trap> trap_of_load_among(int words) {
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "sync 3\n send " + std::to_string(words - 1) + ", 0x20000, 3\n sync 3\n sync 4\n");
  add_program(image, 1,
              "setzi $m1, 0x80000\n sync 3\n"
              "delaypic 30, 0, 0x20000\n"  // the pointer, in cycle 103
              "delayxpic 1, 0, 0\n"        // tile 0, in cycle 105
              "ld32 $m2, $m1, $m15, 0\n"   // in cycle 106
              "sync 3\n sync 4\n");
  return record(image).result.trap;
}

TEST(Exchange, ThatGoesOnWhenATileUsesItsMemoryIsATrapAtItsEnd) {
  const std::optional<Trap> trap = trap_of_load_among(16);  // from 105 to 120
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->cycle, 120_cycles);
  EXPECT_EQ(trap->superstep, 1u);
  EXPECT_EQ(trap->tile, TileId{1});
  EXPECT_EQ(trap->context, "exchange");
  EXPECT_EQ(trap->pc, kCode + 16) << "the load";
  EXPECT_EQ(trap->kind, TrapKind::kProgram);
  EXPECT_EQ(trap->cause,
            "the exchange ends at cycle 120, after the tile went on with its program at cycle 106");
  EXPECT_NE(trap_of_load_among(3)->cause.find("the exchange ends at cycle 107"), std::string::npos);
  // The last word is there when the load issues; that none follows is what is wrong.
  const std::optional<Trap> silence = trap_of_load_among(2);
  ASSERT_TRUE(silence);
  EXPECT_EQ(silence->cycle, 107_cycles);
  EXPECT_NE(silence->cause.find("no word of it arrives at cycle 107"), std::string::npos)
      << silence->text();
}

TEST(Exchange, AFaultOfTheFabricLeavesEarlierTrapsOfOtherTilesAsTheyAre) {
  // Tile 1 loads from where a word of tile 0 says, which arrives long before tile 3 listens in
  // vain.
  const auto trap_of = [](std::uint8_t high_byte, bool has_fault) {
    ProgramImage image = image_of(4);
    add_program(image, 0, "  sync 3\n  send 3, 0x20000, 3\n  sync 3\n  sync 4\n");
    add_program(image, 1,
                "  sync 3\n  delaypic 30, 0, 0x20000\n  delayxpic 1, 0, 0\n"
                "  delayxpic 3, 0, 0x640\n  setzi $m1, 0x80000\n  ld32 $m2, $m1, $m15, 0\n"
                "  ld32 $m3, $m2, $m15, 0\n  sync 3\n  sync 4\n");
    if (has_fault) {
      add_program(image, 2, "  sync 3\n  sync 3\n  sync 4\n");  // silent
      add_program(image, 3,
                  "  sync 3\n  delay 4000\n  delaypic 30, 0, 0x20000\n  delayxpic 1, 0, 2\n"
                  "  delayxpic 3, 0, 0x640\n  sync 3\n  sync 4\n");
    }
    std::vector<std::uint8_t> words(16);
    words[2] = high_byte;
    image.segments.push_back({{TileId{0}}, kData, words});
    return run_image(image, {}, {}).trap;
  };
  EXPECT_FALSE(trap_of(8, false));
  const std::optional<Trap> of_fabric = trap_of(8, true);
  ASSERT_TRUE(of_fabric);
  EXPECT_EQ(of_fabric->tile, TileId{3});
  EXPECT_EQ(of_fabric->context, "exchange");
  const std::optional<Trap> alone = trap_of(0, false), earlier = trap_of(0, true);
  ASSERT_TRUE(alone && earlier);
  EXPECT_EQ(alone->tile, TileId{1});
  EXPECT_EQ(earlier->text(), alone->text());
}

}  // namespace
}  // namespace superstep
