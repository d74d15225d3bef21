#include "compiler/schedule/row_encoder.h"

#include <gtest/gtest.h>

#include <random>

#include "isa/exchange_ports.h"
#include "tests/exchange/row_decoder.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

constexpr std::uint32_t kData = 0x80000;

std::vector<std::uint32_t> encode_tile(const std::vector<RowSend>& sends,
                                       const std::vector<RowReceive>& receives,
                                       Encoding encoding = Encoding::kMk2) {
  MachineConfig machine = gc200();
  machine.isa.encoding = encoding;
  return encode_row(machine, 3, sends, receives);
}

/// What the ports do in each cycle, by words.
struct PerCycle {
  std::vector<std::uint32_t> sent;    ///< address, 0 none
  std::vector<std::uint32_t> source;  ///< kMuxIdle none
  std::vector<std::uint32_t> stored;  ///< address where a word from `source` would go

  bool operator==(const PerCycle&) const = default;
};

PerCycle planned(const std::vector<RowSend>& sends, const std::vector<RowReceive>& receives,
                 std::size_t cycles) {
  PerCycle all{std::vector<std::uint32_t>(cycles), std::vector<std::uint32_t>(cycles, kMuxIdle),
               std::vector<std::uint32_t>(cycles)};
  for (const RowSend& send : sends) {
    for (std::uint32_t w = 0; w < send.words; ++w) all.sent[send.cycle + w] = send.address + 4 * w;
  }
  for (const RowReceive& receive : receives) {
    for (std::uint32_t w = 0; w < receive.words; ++w) {
      all.source[receive.cycle + w] = receive.source;
      all.stored[receive.cycle + w] = receive.address + 4 * w;
    }
  }
  return all;
}

PerCycle executed(const std::vector<std::uint32_t>& code, std::size_t cycles, Encoding encoding) {
  PerCycle all{std::vector<std::uint32_t>(cycles), std::vector<std::uint32_t>(cycles, kMuxIdle),
               std::vector<std::uint32_t>(cycles)};
  MachineConfig machine = gc200();
  machine.isa.encoding = encoding;
  const std::vector<PortEvent> events = test::RowDecoder(0, machine).run(code);
  std::uint32_t mux = kMuxIdle, pointer = 0;
  std::size_t next = 0;
  for (const PortEvent& event : events) {
    if (event.kind != PortEvent::Kind::kSend) continue;
    for (std::uint32_t w = 0; w < event.words; ++w) {
      EXPECT_EQ(all.sent.at(event.cycle + w), 0U) << "two sends in a cycle";
      all.sent.at(event.cycle + w) = event.value + 4 * w;
    }
  }
  for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
    for (; next < events.size() && events[next].cycle <= cycle; ++next) {
      if (events[next].kind == PortEvent::Kind::kMux) mux = events[next].value;
      if (events[next].kind == PortEvent::Kind::kPointer) pointer = events[next].value;
    }
    if (mux == kMuxIdle) continue;
    all.source[cycle] = mux;
    all.stored[cycle] = pointer;
    pointer += 4;
  }
  return all;
}

void expect_exact(const std::vector<RowSend>& sends, const std::vector<RowReceive>& receives,
                  std::size_t cycles, Encoding encoding = Encoding::kMk2) {
  const std::vector<std::uint32_t> code = encode_tile(sends, receives, encoding);
  EXPECT_EQ(code.size() % 2, 0U);
  EXPECT_EQ(executed(code, cycles, encoding), planned(sends, receives, cycles));
}

TEST(RowEncoder, ATileWithoutTransfersOnlySyncs) {
  EXPECT_EQ(encode_tile({}, {}), (std::vector<std::uint32_t>{0x41800003, 0x40a00000}));
}

// Encodings by the formulas of osmarks/ipu-stack docs/EXCHANGE_INSTRUCTION_REFERENCE.md.
TEST(RowEncoder, AShortSendIsADelayAndOneInstruction) {
  const std::vector<std::uint32_t> code = encode_tile({{10, kData, 33}}, {});
  EXPECT_EQ(code, (std::vector<std::uint32_t>{
                      0x41800003, 0x40a00009,
                      0x78000000 | 0U << 21 | (kData / 4) << 3 | 3,  // 1 word, then
                      0x70000000 | 31U << 21 | 3}));                 // 32: even length
}

TEST(RowEncoder, ALongSendNeedsOneMoreWord) {
  const std::vector<std::uint32_t> code = encode_tile({{0, kData, 64 + 1000}}, {});
  // 999 = 15 * 64 + 39; the even length costs the last word.
  EXPECT_EQ(code.size(), 4U);
  EXPECT_EQ(code[1], 0x78000000 | 63U << 21 | (kData / 4) << 3 | 3);
  expect_exact({{0, kData, 64 + 1000}}, {}, 1100);
}

// The receiver row of the reference: messages of 52 words, one two-word instruction each.
TEST(RowEncoder, BackToBackReceivesTakeOneAlignedInstructionEach) {
  const std::vector<std::uint32_t> code = encode_tile({}, {{2, 130, 0x50000, 52},
                                                           {54, 192, 0x50120, 52},
                                                           {106, 194, 0x54000, 52},
                                                           {158, 256, 0x58000, 52}});
  ASSERT_EQ(code.size(), 12U);
  EXPECT_EQ(code[1], 0x40a00001U);
  EXPECT_EQ(code[2], 0xf6600000U);
  EXPECT_EQ(code[4], 0xf6600000U);
  EXPECT_EQ(code[5], 0x03014048U);
  EXPECT_EQ(code[6], 0xf6600000U);
  EXPECT_EQ(code[7], 0x03095000U);
  EXPECT_EQ(code[8], 0xf6600000U);
  EXPECT_EQ(code[9], 0x04016000U);
}

TEST(RowEncoder, AContinuedReceiveNeedsOnlyItsMux) {
  const std::vector<RowReceive> receives = {{5, 1, kData, 10}, {15, 2, kData + 40, 10}};
  expect_exact({}, receives, 60);
  EXPECT_EQ(encode_tile({}, receives).size(), 6U);
}

TEST(RowEncoder, ControlsSplitARunningSend) {
  expect_exact({{3, kData, 300}},
               {{10, 1, 0x90000, 20}, {30, 2, 0x98000, 1}, {200, 3, 0x90000, 150}}, 400);
}

TEST(RowEncoder, EveryCycleCanCarryASendAndTwoControls) {
  std::vector<RowSend> sends;
  std::vector<RowReceive> receives;
  for (std::uint32_t i = 0; i < 40; ++i) {
    sends.push_back({1 + i, kData + (i * 7 % 40) * 4, 1});
    receives.push_back({1 + i, i, 0x90000 + (i * 11 % 40) * 4, 1});
  }
  expect_exact(sends, receives, 60);
}

TEST(RowEncoder, LongWaitsExceedNoField) {
  expect_exact({{700'000, kData, 5}}, {{5'000, 1, 0x90000, 1}, {600'000, 1, 0x90004, 2}}, 700'010);
}

/// Rows of a machine that ends at `memory_end` and has so many tiles.
void expect_random_rows(Encoding encoding, std::uint32_t memory_end, std::uint32_t tiles) {
  const std::uint32_t kIn = memory_end - 0x8000, kOut = memory_end - 0x10000;
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto pick = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    const std::uint32_t longest = trial % 3 == 0 ? 3 : 150;
    const std::uint32_t gap = trial % 2 == 0 ? 3 : 200;
    std::vector<RowSend> sends;
    std::vector<RowReceive> receives;
    std::uint64_t cycle = kFirstRowCycle + pick(gap);
    for (std::uint32_t i = pick(20); i > 0; --i) {
      sends.push_back({cycle, kOut + 4 * pick(1000), 1 + pick(longest)});
      cycle += sends.back().words + (pick(2) != 0 ? pick(gap) : 0);
    }
    std::uint64_t arrival = kFirstRowCycle + pick(gap);
    std::uint32_t address = kIn;
    for (std::uint32_t i = pick(20); i > 0; --i) {
      if (pick(3) != 0) address = kIn + 4 * pick(1000);
      receives.push_back({arrival, tiles - 1 - pick(4), address, 1 + pick(longest)});
      address += receives.back().words * 4;
      arrival += receives.back().words + (pick(2) != 0 ? pick(gap) : 0);
    }
    SCOPED_TRACE(trial);
    expect_exact(sends, receives, std::max(cycle, arrival) + 2, encoding);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RowEncoder, DoesExactlyWhatWasPlannedForRandomRows) {
  expect_random_rows(Encoding::kMk2, 0x100000, 1536);
  expect_random_rows(Encoding::kMk2, 0xa0000, 4);
}

TEST(RowEncoder, ReachesAllOfALargeMachineInTheWideEncoding) {
  expect_random_rows(Encoding::kWide, 0x200000, 8192);
  expect_random_rows(Encoding::kWide, 0x104000, 1600);
}

}  // namespace
}  // namespace superstep
