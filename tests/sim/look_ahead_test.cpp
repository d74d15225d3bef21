#include "sim/tile/look_ahead.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "toolchain/assembler.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

constexpr std::uint32_t kCode = 0x4c000;

class Code {
 public:
  explicit Code(const std::string& text) { write(kCode, text); }

  void write(std::uint32_t address, const std::string& text) {
    const std::vector<std::uint32_t> words = assemble(text, "test.S").words_at(address);
    EXPECT_TRUE(memory_.write(address, std::as_bytes(std::span(words))));
  }
  bool meets_workers(std::uint32_t pc = kCode) { return ahead_.from(pc).meets_workers; }

 private:
  TileMemory memory_{gc200()};
  LookAhead ahead_{memory_};
};

TEST(LookAhead, WhatSeesOrChangesWhatWorkersDoMeetsThem) {
  for (const char* instruction :
       {"ld32 $m0, $m1, $m15, 0", "st32 $m0, $m1, $m15, 0", "ldz8 $m0, $m1, $m15, 0",
        "send 0, 0x14000, 3", "sendoff 0, 0, 0, 3", "sendpic 0, 0, 5", "ld64putcs 0",
        "ld128putcs 0", "put $CR, $m0", "br $m0"}) {
    EXPECT_TRUE(Code(std::string("add $m0, $m0, 1\n") + instruction + "\n sync 2").meets_workers())
        << instruction;
  }
}

TEST(LookAhead, LaunchesTimeAndRegistersDoNot) {
  for (const char* instruction :
       {"run $m0, $m1, 0", "get $m0, $COUNT_L", "get $m0, $CTXT_STS", "put $CCCSLOAD, $m0",
        "put $FP_ICTL, $m0", "delay 5", "delaypic 0, 0, 0x14000", "delayxpic 0, 0, 0x640", "sans 0",
        "mul $m0, $m0, $m1", "setzi $m0, 7", "1: brnzdec $m0, 1b", "bri 1f\n 1: nop"}) {
    EXPECT_FALSE(Code(std::string("add $m0, $m0, 1\n") + instruction + "\n sync 2").meets_workers())
        << instruction;
  }
}

TEST(LookAhead, EndsWhereWorkersHaveLeft) {
  for (const char* wait : {"sync 2", "sync 3", "runall $m0, $m1, 0"}) {
    EXPECT_FALSE(Code(std::string(wait) + "\n ld32 $m0, $m1, $m15, 0").meets_workers()) << wait;
  }
  // A fault.
  EXPECT_FALSE(Code("exitz $m15\n ld32 $m0, $m1, $m15, 0").meets_workers());
  EXPECT_FALSE(Code("bri 0x4c000").meets_workers());
}

TEST(LookAhead, FollowsBothWaysOfABranchAndOneOfAJump) {
  EXPECT_TRUE(Code("brz $m0, 1f\n sync 2\n 1: ld32 $m0, $m1, $m15, 0").meets_workers());
  EXPECT_TRUE(Code("brz $m0, 1f\n ld32 $m0, $m1, $m15, 0\n 1: sync 2").meets_workers());
  EXPECT_FALSE(Code("bri 1f\n ld32 $m0, $m1, $m15, 0\n 1: sync 2").meets_workers());
  EXPECT_TRUE(Code("call $lr, 1f\n sync 2\n 1: br $lr").meets_workers());
}

TEST(LookAhead, LooksAgainWhenTheCodeHasChanged) {
  Code code("nop\n nop\n sync 2\n sync 2");
  EXPECT_FALSE(code.meets_workers());
  EXPECT_FALSE(code.meets_workers(kCode + 8));
  code.write(kCode + 8, "ld32 $m0, $m1, $m15, 0");
  EXPECT_TRUE(code.meets_workers());
  EXPECT_TRUE(code.meets_workers(kCode + 8));
  code.write(kCode + 4, "sync 2");
  EXPECT_FALSE(code.meets_workers());
  EXPECT_TRUE(code.meets_workers(kCode + 8));
}

}  // namespace
}  // namespace superstep
