// What a tile boots with is the same to it whenever it is written.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isa/instruction_word.h"
#include "sim/tile/memory.h"
#include "sim/tile/tile.h"
#include "sim/tile_view.h"
#include "tests/gc200.h"
#include "tests/sim/programs.h"
#include "tests/sim/rest_of_run.h"

namespace superstep {
namespace {

std::uint32_t word_of(const TileMemory& memory, std::uint32_t address) {
  return memory.word(address);
}

TEST(Boot, BytesAreThereForWhoeverReachesThem) {
  const Segment first{{}, kCode, {1, 0, 0, 0, 2, 0, 0, 0}}, over{{}, kCode + 4, {3}};
  const std::array<const Segment*, 2> segments = {&first, &over};
  TileMemory memory{gc200()};
  memory.boot(segments);
  EXPECT_TRUE(memory.is_as_at_boot());
  EXPECT_EQ(word_of(memory, kCode), 1U);
  EXPECT_EQ(word_of(memory, kCode + 4), 3U);
  EXPECT_EQ(word_of(memory, kCode + 8), 0U);
  EXPECT_FALSE(memory.is_as_at_boot());
}

TEST(Boot, WhoReachesOnlyWhatLiesBehindTheSegmentsLeavesTheirCodeWhereItIs) {
  const Segment code{{}, kCode, {1, 0, 0, 0}};
  const std::array<const Segment*, 1> segments = {&code};
  const HostPages pages = map_host_pages(page_bytes(gc200()));
  TileMemory memory(gc200(), pages.get());
  memory.boot(segments);
  memory.open_code(kCode);
  const std::byte* const shared = memory.place_of_code(kCode);
  std::byte* const data = memory.data_from(kData);
  EXPECT_FALSE(memory.is_as_at_boot());
  EXPECT_EQ(memory.place_of_code(kCode), shared);
  data[kData - kCode] = std::byte{5};
  EXPECT_EQ(memory.data_from(kCode)[0], std::byte{1});
  EXPECT_EQ(word_of(memory, kData), 5U);
  memory.open_code(kCode);
  EXPECT_EQ(memory.place_of_code(kCode), data);
}

TEST(Boot, ATileThatOnlyWaitsReachesNothing) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "setzi $m2, 5\nagain:\n sync 3\n brnzdec $m2, again\n sync 4\n");
  const std::array<const Segment*, 1> segments = {&image.segments[0]};
  CodeStore store(image.machine);
  Tile tile(image.machine, TileId{0}, store);
  tile.memory().boot(segments);
  tile.boot(kCode);
  for (int superstep = 0; superstep < 4; ++superstep) {
    EXPECT_EQ(tile.run(0).kind, TileStop::Kind::kSync);
  }
  EXPECT_TRUE(tile.memory().is_as_at_boot());
}

TEST(Boot, TilesThatShareCodeWriteOverTheirOwn) {
  const std::uint32_t replacement = encode("setzi", {6, 9});
  ProgramImage image = image_of(2);
  // The first one stores a word over its code; both then execute what they have there.
  add_program(
      image, 0,
      "get $m0, $TILE_ID\n setzi $m1, code\n ld32 $m2, $m1, $m15, 4\n brnz $m0, code\n"
      "st32 $m2, $m1, $m15, 0\n sync 3\n sync 3\ncode:\n setzi $m6, 7\n setzi $m3, 0x80000\n"
      " st32 $m6, $m3, $m15, 0\n sync 4\n.word " +
          std::to_string(replacement));
  image.segments[0].tiles.push_back(TileId{1});
  image.entries.push_back({TileId{1}, kCode});
  std::vector<std::unique_ptr<Tile>> tiles;
  CodeStore store(image.machine);
  const std::array<const Segment*, 1> segments = {&image.segments[0]};
  for (std::uint32_t t = 0; t < 2; ++t) {
    Tile& tile = *tiles.emplace_back(std::make_unique<Tile>(image.machine, TileId{t}, store));
    tile.memory().boot(segments);
    tile.boot(kCode);
    while (tile.run(0).zone != 4) {
    }
    EXPECT_EQ(word_of(tile.memory(), kData), t == 0 ? 9U : 7U);
  }
}

/// A tile sends words to another one, again and again, by rows that are kept. They are 0 unless
/// tiles boot with `sent`.
ProgramImage exchanges(const std::vector<std::uint8_t>& sent) {
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "setzi $m3, 5\nagain:\n sync 3\n send 3, 0x20000, 3\n brnzdec $m3, again\n sync 4\n");
  add_program(image, 1,
              "setzi $m3, 5\nagain:\n sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n"
              "delayxpic 3, 0, 0x640\n brnzdec $m3, again\n sync 4\n");
  if (!sent.empty()) image.segments.push_back({{TileId{0}}, kData, sent});
  return image;
}

std::vector<std::string> history_of(ProgramImage image) {
  Simulation simulation(std::move(image));
  History history(simulation);
  const Stop stop = simulation.run();
  EXPECT_EQ(stop.kind, StopKind::kEnd) << (stop.trap ? stop.trap->text() : "no trap");
  history.end(stop);
  return history.lines;
}

TEST(Boot, AProgramInPiecesRunsAsInOne) {
  for (const std::vector<std::uint8_t>& sent : {std::vector<std::uint8_t>{}, {1, 2, 3, 4, 5}}) {
    const ProgramImage whole = exchanges(sent);
    const std::vector<std::string> expected = history_of(whole);
    // Between words and inside of them.
    for (std::uint32_t cut = 1; cut < whole.segments[1].bytes.size(); ++cut) {
      SCOPED_TRACE(cut);
      ProgramImage image = whole;
      for (const std::size_t s : {0U, 1U}) {
        std::vector<std::uint8_t>& bytes = image.segments[s].bytes;
        if (cut >= bytes.size()) continue;
        const std::vector<std::uint8_t> rest(bytes.begin() + cut, bytes.end());
        bytes.resize(cut);
        image.segments.push_back({whole.segments[s].tiles, kCode + cut, rest});
      }
      EXPECT_EQ(history_of(std::move(image)), expected);
    }
  }
}

TEST(Boot, APieceOverAnotherIsWhatRuns) {
  const ProgramImage whole = exchanges({1, 2, 3, 4, 5});
  ProgramImage image = whole;
  image.segments[0].bytes.assign(image.segments[0].bytes.size(), 0);
  image.segments.push_back(whole.segments[0]);
  EXPECT_EQ(history_of(std::move(image)), history_of(whole));
}

/// A tile that counts $m6 up by 1 in each superstep, and leaves the sum at kData.
ProgramImage counts() {
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "setzi $m2, 5\n setzi $m3, 0x80000\nagain:\n sync 3\n add $m6, $m6, 1\n"
              "brnzdec $m2, again\n st32 $m6, $m3, $m15, 0\n sync 4\n");
  return image;
}
constexpr std::uint32_t kCountsUp = kCode + 12;

void write_word(const TileView& tile, std::uint32_t address, std::uint32_t word) {
  EXPECT_TRUE(tile.write(address, std::as_bytes(std::span(&word, 1))));
}

TEST(Boot, TheHostWritesOverCodeThatIsStillReadFromItsSegment) {
  const ProgramImage image = counts();
  const std::array<const Segment*, 1> segments = {&image.segments[0]};
  CodeStore store(image.machine);
  Tile tile(image.machine, TileId{0}, store);
  tile.memory().boot(segments);
  tile.boot(kCode);
  for (int superstep = 0; superstep < 3; ++superstep) {
    ASSERT_EQ(tile.run(0).zone, 3U);
  }
  ASSERT_TRUE(tile.memory().is_as_at_boot());
  const TileAccess access;
  write_word(TileView(tile, access), kCountsUp, encode("add $d, $a, i", {6, 6, 100}));
  while (tile.run(0).zone != 4) {
  }
  // Twice before the third sync, four times behind it.
  EXPECT_EQ(word_of(tile.memory(), kData), 2U + 4 * 100U);
  EXPECT_EQ(image.segments[0].bytes, counts().segments[0].bytes);
}

TEST(Boot, TheHostWritesOverRowsThatWereReadFromTheirSegment) {
  const ProgramImage image = exchanges({1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5});
  const auto last_word = [&](std::uint64_t superstep) {
    Simulation simulation(image);
    simulation.run_until({.superstep = superstep});
    // A word further on.
    write_word(simulation.tile(TileId{0}), kCode + 8,
               assemble("send 3, 0x20001, 3", "test.S").words_at(0)[0]);
    const Stop stop = simulation.run();
    EXPECT_EQ(stop.kind, StopKind::kEnd) << (stop.trap ? stop.trap->text() : "no trap");
    return simulation.tile(TileId{1}).word(kData + 12);
  };
  for (std::uint64_t superstep = 0; superstep < 5; ++superstep) {
    EXPECT_EQ(last_word(superstep), 5U) << superstep;
  }
}

/// A tile whose program lies up to the end of the executable region, so many bytes into its
/// segment, which goes on with one word more.
ProgramImage ends_with_region0(const std::string& program, std::uint32_t bytes_before) {
  ProgramImage image = image_of(1);
  const std::vector<std::uint32_t> words = assemble(program, "test.S").words_at(0);
  const std::uint32_t entry =
      image.machine.tile.region1_base - 4 * (static_cast<std::uint32_t>(words.size()) - 1);
  Segment segment{{TileId{0}}, entry - bytes_before, std::vector<std::uint8_t>(bytes_before)};
  for (const std::uint32_t word : words) {
    for (int byte = 0; byte < 4; ++byte) {
      segment.bytes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
    }
  }
  image.segments.push_back(segment);
  image.entries.push_back({TileId{0}, entry});
  return image;
}

TEST(Boot, ASegmentGoesOnBehindTheExecutableRegion) {
  ASSERT_EQ(gc200().tile.region1_base, kData);
  for (const std::uint32_t bytes_before : {0U, 2U, 4U}) {
    SCOPED_TRACE(bytes_before);
    Simulation data(
        ends_with_region0("setzi $m3, 0x80000\n ld32 $m5, $m3, $m15, 0\n"
                          "add $m5, $m5, 6\n st32 $m5, $m3, $m15, 0\n sync 4\n"
                          ".word 1\n",
                          bytes_before));
    EXPECT_EQ(data.run().kind, StopKind::kEnd);
    EXPECT_EQ(data.tile(TileId{0}).word(kData), 7U);
    // Nobody has reached a byte when it comes to what would be its next instruction.
    Simulation code(ends_with_region0("setzi $m3, 1\n nop\n sync 4\n", bytes_before));
    const Stop stop = code.run();
    ASSERT_EQ(stop.kind, StopKind::kTrap);
    EXPECT_EQ(stop.trap->cause, "execution outside the executable region");
    EXPECT_EQ(stop.trap->pc, kData);
  }
}

}  // namespace
}  // namespace superstep
