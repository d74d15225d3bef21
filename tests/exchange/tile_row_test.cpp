#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compiler/schedule/row_encoder.h"
#include "tests/exchange/row_decoder.h"
#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

constexpr std::uint32_t kProgramEnd = 0x41800004;  // sync 4
constexpr std::uint64_t kRelease = 5000;

class Watcher : public InstructionObserver {
 public:
  void issued(const IssuedInstruction&) override { ++instructions; }
  int instructions = 0;
};

/// What the ports are told by a row that ends at cycle `end`, each of three times.
std::vector<PortEvent> execute(const MachineConfig& machine, const std::vector<std::uint32_t>& code,
                               InstructionObserver* observer, std::uint64_t end) {
  testing::TileRun run(machine);
  Tile& tile = run.tile();
  run.put(testing::kProgram, code);
  if (observer != nullptr) tile.observe(observer);
  std::vector<PortEvent> first;
  for (int time = 0; time < 3; ++time) {
    tile.boot(testing::kProgram);
    const TileStop entry = tile.run(0);
    EXPECT_EQ(entry.kind, TileStop::Kind::kSync);
    EXPECT_EQ(entry.zone, 3U);
    tile.clear_port_events();
    const TileStop stop = tile.run(kRelease);
    EXPECT_EQ(stop.kind, TileStop::Kind::kSync);
    EXPECT_EQ(stop.zone, 4U);
    EXPECT_EQ(stop.cycle, end);
    if (time == 0) first = tile.port_events();
    EXPECT_EQ(tile.port_events(), first);
    EXPECT_EQ(tile.port_log().rows().empty(), time == 0 || observer != nullptr || first.empty());
  }
  return first;
}

/// A program whose phases end at syncs.
class RepeatedRow : public ::testing::Test {
 protected:
  std::vector<PortEvent> run(std::uint64_t release) {
    tile_run_.tile().clear_port_events();
    const TileStop stop = tile_run_.tile().run(release);
    EXPECT_EQ(stop.kind, TileStop::Kind::kSync);
    return tile_run_.tile().port_events();
  }
  testing::TileRun tile_run_;
};

TEST_F(RepeatedRow, IsDecodedAgainWhenItsWordsWereWritten) {
  // After the third execution a store writes the first word of the row.
  tile_run_.load(testing::kProgram,
                 "setzi $m3, 2\n delay 0\n send 0, 0x14000, 3\n delay 3\n sync 3\n"
                 "ldconst $m1, 0x4c008\n brnzdec $m3, 0x4c008\n ldconst $m2, 0x4c080\n"
                 "ld32 $m0, $m2, $m15, 0\n st32 $m0, $m1, $m15, 0\n br $m1\n"
                 ".align 128\n send 4, 0x15000, 3\n");
  tile_run_.tile().boot(testing::kProgram);
  for (const std::uint64_t release : {100U, 200U, 300U}) {
    const std::vector<PortEvent> events = run(release);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].value, 0x14000 * 4U);
    const std::uint64_t branched = 1 + tile_run_.machine().costs.taken_branch;
    EXPECT_EQ(events[0].cycle, release + (release == 100 ? 2 : branched));
  }
  const std::vector<PortEvent> changed = run(400);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].value, 0x15000 * 4U);
  EXPECT_EQ(changed[0].words, 5U);
}

TEST(TileRow, ATileExecutesARowInExactlyThePlannedCycles) {
  const MachineConfig machine = gc200();
  std::mt19937 random(21);
  const auto pick = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (int trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(trial);
    std::vector<RowSend> sends;
    std::vector<RowReceive> receives;
    std::uint64_t cycle = kFirstRowCycle + pick(200);
    std::uint64_t arrival = kFirstRowCycle + pick(200);
    for (std::uint32_t i = pick(12); i > 0; --i) {
      sends.push_back({cycle, 0x80000 + 4 * pick(1000), 1 + pick(300)});
      cycle += sends.back().words + (pick(2) != 0 ? pick(9) : 0);
      receives.push_back({arrival, pick(1472), 0x90000 + 4 * pick(1000), 1 + pick(90)});
      arrival += receives.back().words + (pick(2) != 0 ? pick(300) : 0);
    }
    std::vector<std::uint32_t> code = encode_row(machine, 3, sends, receives);
    test::RowDecoder decoder(kRelease);
    const std::vector<PortEvent> expected = decoder.run(code);
    code.push_back(kProgramEnd);

    const std::vector<PortEvent> events = execute(machine, code, nullptr, decoder.cycle());
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].kind, expected[i].kind) << i;
      EXPECT_EQ(events[i].cycle, expected[i].cycle) << i;
      EXPECT_EQ(events[i].value, expected[i].value) << i;
      EXPECT_EQ(events[i].words, expected[i].words) << i;
    }
    Watcher watcher;
    EXPECT_EQ(execute(machine, code, &watcher, decoder.cycle()), events) << "one by one";
    EXPECT_GT(watcher.instructions, 2);
  }
}

}  // namespace
}  // namespace superstep
