#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compiler/schedule/row_encoder.h"
#include "tests/exchange/row_decoder.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

constexpr std::uint32_t kProgramEnd = 0x4180000f;  // sync 15
constexpr std::uint64_t kRelease = 5000;

TEST(TileRow, ATileExecutesARowInExactlyThePlannedCycles) {
  const MachineConfig machine;
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

    testing::TileRun run(machine);
    Tile& tile = run.tile();
    run.put(testing::kProgram, code);
    tile.boot(testing::kProgram);
    const TileStop entry = tile.run(0);
    EXPECT_EQ(entry.kind, TileStop::Kind::kSync);
    EXPECT_EQ(entry.zone, 3U);
    tile.clear_port_events();
    const TileStop end = tile.run(kRelease);
    ASSERT_EQ(end.kind, TileStop::Kind::kSync);
    EXPECT_EQ(end.zone, 15U);
    EXPECT_EQ(end.cycle, decoder.cycle());
    const std::vector<PortEvent>& events = tile.port_events();
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].kind, expected[i].kind) << i;
      EXPECT_EQ(events[i].cycle, expected[i].cycle) << i;
      EXPECT_EQ(events[i].value, expected[i].value) << i;
      EXPECT_EQ(events[i].words, expected[i].words) << i;
    }
  }
}

}  // namespace
}  // namespace superstep
