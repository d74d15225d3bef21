#include <gtest/gtest.h>

#include "tests/isa/tile_run.h"

namespace superstep {
namespace {

/// $m0 = a, $m1 = b, then `instruction`, then the word in $m2.
std::uint32_t result(const std::string& instruction, std::uint32_t a, std::uint32_t b = 0) {
  return testing::run_worker("ld32 $m0, $mvertex_base, 0\n ld32 $m1, $mvertex_base, 1\n" +
                                 instruction +
                                 "\n st32 $m2, $mvertex_base, $mzero, 0\n exitz $mzero",
                             {a, b}, 1)[0];
}

TEST(Integer, AddsSubtractsAndMultipliesModulo32Bits) {
  EXPECT_EQ(result("add $m2, $m0, $m1", 0xffffffff, 2), 1U);
  EXPECT_EQ(result("add $m2, $m0, -3", 1), 0xfffffffeU);
  EXPECT_EQ(result("add $m2, $m0, 65535", 1), 0x10000U);
  EXPECT_EQ(result("sub $m2, $m0, $m1", 5, 7), 0xfffffffeU);
  EXPECT_EQ(result("sub $m2, 10, $m0", 3), 7U);
  EXPECT_EQ(result("mul $m2, $m0, $m1", 0x10001, 0x10001), 0x20001U);
  EXPECT_EQ(result("mul $m2, $m0, -2", 3), 0xfffffffaU);
}

TEST(Integer, ComparesAndChooses) {
  EXPECT_EQ(result("cmpslt $m2, $m0, $m1", 0xffffffff, 0), 1U);
  EXPECT_EQ(result("cmpult $m2, $m0, $m1", 0xffffffff, 0), 0U);
  EXPECT_EQ(result("cmpeq $m2, $m0, 7", 7), 1U);
  EXPECT_EQ(result("cmpne $m2, $m0, 7", 7), 0U);
  EXPECT_EQ(result("min $m2, $m0, $m1", 0xffffffff, 3), 0xffffffffU);
  EXPECT_EQ(result("max $m2, $m0, $m1", 0xffffffff, 3), 3U);
  EXPECT_EQ(result("mov $m2, $m0\n movnz $m2, $m1, $m1", 5, 9), 9U);
  EXPECT_EQ(result("mov $m2, $m0\n movnz $m2, $m1, $m0", 5, 0), 5U);
  EXPECT_EQ(result("mov $m2, $m0\n movz $m2, $m1, $m1", 5, 0), 0U);
}

TEST(Integer, ShiftsByAtLeast32ClearOrFillWithTheSign) {
  EXPECT_EQ(result("shl $m2, $m0, 4", 0x12345678), 0x23456780U);
  EXPECT_EQ(result("shr $m2, $m0, $m1", 0x80000000, 31), 1U);
  EXPECT_EQ(result("shr $m2, $m0, $m1", 0x80000000, 32), 0U);
  EXPECT_EQ(result("shrs $m2, $m0, 4", 0x80000000), 0xf8000000U);
  EXPECT_EQ(result("shrs $m2, $m0, $m1", 0x80000000, 40), 0xffffffffU);
}

TEST(Integer, LogicCountsAndPermutes) {
  EXPECT_EQ(result("and $m2, $m0, $m1", 0xff00ff00, 0x0ff00ff0), 0x0f000f00U);
  EXPECT_EQ(result("andc $m2, $m0, $m1", 0xff00ff00, 0x0ff00ff0), 0xf000f000U);
  EXPECT_EQ(result("or $m2, $m0, 0x80000000", 1), 0x80000001U);
  EXPECT_EQ(result("xor $m2, $m0, $m1", 0xff, 0xf0), 0x0fU);
  EXPECT_EQ(result("xnor $m2, $m0, $m1", 0xff, 0xf0), 0xfffffff0U);
  EXPECT_EQ(result("not $m2, $m0", 0), 0xffffffffU);
  EXPECT_EQ(result("clz $m2, $m0", 0), 32U);
  EXPECT_EQ(result("clz $m2, $m0", 0x10000), 15U);
  EXPECT_EQ(result("cms $m2, $m0", 0xffffffff), 31U);
  EXPECT_EQ(result("cms $m2, $m0", 0x40000000), 0U);
  EXPECT_EQ(result("popc $m2, $m0", 0xf0f), 8U);
  EXPECT_EQ(result("abs $m2, $m0", 0xfffffffe), 2U);
  EXPECT_EQ(result("bitrev8 $m2, $m0", 0x01020380), 0x8040c001U);
  EXPECT_EQ(result("roll16 $m2, $m0, $m1", 0x11112222, 0x33334444), 0x44441111U);
  EXPECT_EQ(result("swap16 $m2, $m0", 0x11112222), 0x22221111U);
  EXPECT_EQ(result("sort4x16lo $m2, $m0, $m1", 0x11112222, 0x33334444), 0x44442222U);
  EXPECT_EQ(result("sort4x16hi $m2, $m0, $m1", 0x11112222, 0x33334444), 0x33331111U);
  EXPECT_EQ(result("shuf8x8lo $m2, $m0, $m1", 0xa3a2a1a0, 0xb3b2b1b0), 0xb1a1b0a0U);
  EXPECT_EQ(result("shuf8x8hi $m2, $m0, $m1", 0xa3a2a1a0, 0xb3b2b1b0), 0xb3a3b2a2U);
  EXPECT_EQ(result("sort8x8lo $m2, $m0, $m1", 0xa3a2a1a0, 0xb3b2b1b0), 0xb2b0a2a0U);
  EXPECT_EQ(result("sort8x8hi $m2, $m0, $m1", 0xa3a2a1a0, 0xb3b2b1b0), 0xb3b1a3a1U);
  EXPECT_EQ(result("swap8 $m2, $m0", 0xa3a2a1a0), 0xa2a3a0a1U);
  EXPECT_EQ(result("sort8 $m2, $m0", 0xa3a2a1a0), 0xa3a1a2a0U);
}

TEST(Integer, RegisterZeroReads0WhateverIsWritten) {
  EXPECT_EQ(result("setzi $m15, 77\n add $m2, $m15, $m15", 1), 0U);
  EXPECT_EQ(result("setzi $a15, 77\n atom $m2, $a15", 1), 0U);
  EXPECT_EQ(result("setzi $a14, 77\n and64 $a2:3, $a14:15, $a14:15\n atom $m2, $a2", 1), 0U);
  EXPECT_EQ(result("setzi $a14, 77\n atom $m2, $a14", 1), 77U);
}

TEST(Integer, BranchesGoWhereTheirConditionSays) {
  const std::string end = "\n setzi $m2, 1\n bri 2f\n1: setzi $m2, 2\n2:";
  EXPECT_EQ(result("brz $m0, 1f" + end, 0), 2U);
  EXPECT_EQ(result("brz $m0, 1f" + end, 5), 1U);
  EXPECT_EQ(result("brnz $m0, 1f" + end, 5), 2U);
  EXPECT_EQ(result("brneg $m0, 1f" + end, 0x80000000), 2U);
  EXPECT_EQ(result("brneg $m0, 1f" + end, 0), 1U);
  EXPECT_EQ(result("brpos $m0, 1f" + end, 0), 2U);
  EXPECT_EQ(result("setzi $m2, 0\n1: add $m2, $m2, 1\n brnzdec $m0, 1b", 6), 7U);
}

TEST(Integer, TheWorkerIdIsInTheStatusRegister) {
  testing::TileRun run;
  run.work("get $m0, $WSR\n and $m0, $m0, 7\n stm32 $m0, $mvertex_base, $m0\n exitz $mzero");
  EXPECT_EQ(run.get(testing::kData, 6), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Bundle, BothHalvesReadBeforeEitherWrites) {
  const std::vector<std::uint32_t> out = testing::run_worker(
      "ld64 $a0:1, $mvertex_base, 0\n"
      "{ st32 $a0, $mvertex_base, $mzero, 2 ; setzi $a0, 9 }\n"
      "{ ld32 $a2, $mvertex_base, $mzero, 1 ; or $a3, $a2, $a1 }\n"
      "st64 $a2:3, $mvertex_base, 0\n exitz $mzero",
      {0x11, 0x22, 0, 0}, 4);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{0x22, 0x22, 0x11, 0}));
}

}  // namespace
}  // namespace superstep
