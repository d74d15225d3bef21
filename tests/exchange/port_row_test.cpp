#include "sim/exchange/port_row.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/exchange/row_decoder.h"
#include "tests/gc200.h"
#include "toolchain/assembler.h"

namespace superstep {
namespace {

constexpr std::uint32_t kRowBegin = 0x4c000;

class PortRowTest : public ::testing::Test {
 protected:
  PortRow row_of(const std::string& assembly, std::uint32_t pc = kRowBegin) {
    words_ = assemble(assembly, "test.S").words_at(pc);
    return {1, Encoding::kMk2, ExchangeItem(gc200()), pc, std::as_bytes(std::span(words_))};
  }
  std::vector<std::uint32_t> words_;  ///< of the last row
};

TEST_F(PortRowTest, TellsWhatItsInstructionsTellOneByOne) {
  const std::string assembly =
      "sendpicp 3, 0x14000, 3, 0\n .word 0x4025000\n delay 6\n sendoff 1, 2, 5, 3\n"
      "delayxpic 4, 0, 17\n sendpic 2, 0, 9\n delaypic 3, 0, 0x16000\n send 2, 0x15000, 0\n";
  const PortRow row = row_of(assembly);
  test::RowDecoder decoder(700);
  const std::vector<PortEvent> expected = decoder.run(words_);
  EXPECT_EQ(row.end(), kRowBegin + words_.size() * 4);
  EXPECT_EQ(row.cycles(), decoder.cycle() - 700);
  EXPECT_EQ(row.send_control(), 0U);
  std::vector<PortEvent> events;
  row.append_events(700, events);
  ASSERT_EQ(events.size(), expected.size());
  for (std::size_t e = 0; e < events.size(); ++e) {
    SCOPED_TRACE(e);
    EXPECT_GE(events[e].pc, kRowBegin);
    events[e].pc = 0;
    EXPECT_EQ(events[e], expected[e]);
  }
}

TEST_F(PortRowTest, LeavesTheAddressAfterItsLastWordSent) {
  const PortRow row = row_of("send 2, 0x14000, 2\n sendoff 0, 0, 5, 3\n delay 9\n");
  EXPECT_EQ(row.outgoing(), 0x14000 * 4 + 9 * 4U);
  EXPECT_EQ(row.send_control(), 3U);
  EXPECT_EQ(row_of("delay 9\n").outgoing(), std::nullopt);
  EXPECT_EQ(row_of("send 2, 0x14000, 0\n").outgoing(), std::nullopt);
}

TEST_F(PortRowTest, EndsBeforeWhatItsWordsAloneDoNotTell) {
  const auto words = [&](const std::string& assembly, std::uint32_t pc = kRowBegin) {
    return (row_of(assembly, pc).end() - pc) / 4;
  };
  EXPECT_EQ(words("delay 1\n delay 2\n sync 2\n delay 3\n"), 2U);
  EXPECT_EQ(words("delay 1\n sendoff 1, 0, 5, 3\n"), 1U) << "after a send of another row";
  EXPECT_EQ(words("delay 1\n sendpic 1, 0, 5\n"), 1U) << "after a send of another row";
  EXPECT_EQ(words("send 1, 0x14000, 0\n sendpic 1, 0, 5\n"), 1U) << "nothing was sent";
  EXPECT_EQ(words("delay 1\n send 1, 0x14000, 7\n"), 1U) << "a trap";
  EXPECT_EQ(words("sendpicp 3, 0x14000, 3, 0\n .word 0\n", kRowBegin + 4), 0U) << "a trap";
  EXPECT_EQ(words("delay 1\n delay 2\n sendpicp 3, 0x14000, 3, 0\n"), 2U) << "its end is missing";
  EXPECT_EQ(words("sync 2\n"), 0U);
}

TEST_F(PortRowTest, OfDelaysHasNoEvents) {
  EXPECT_FALSE(row_of("delay 1\n delay 2\n").has_events());
  EXPECT_FALSE(row_of("delay 1\n sendpic 1, 0, 5\n").has_events());
  EXPECT_TRUE(row_of("delaypic 1, 0, 5\n").has_events());
}

}  // namespace
}  // namespace superstep
