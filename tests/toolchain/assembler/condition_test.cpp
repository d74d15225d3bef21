#include <gtest/gtest.h>

#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

std::uint32_t chosen(const std::string& text) {
  const std::vector<std::uint32_t> words = words_of(text);
  return words.size() == 1 ? words[0] & 0xfffffU : ~0U;
}

TEST(AssemblerConditions, TakeTheFirstBranchThatHolds) {
  const auto pick = [](int n) {
    return chosen(".equ N, " + std::to_string(n) +
                  "\n.if N == 1\n setzi $m0, 10\n.elseif N == 2\n setzi $m0, 20\n.elseif N < 4\n"
                  " setzi $m0, 30\n.else\n setzi $m0, 40\n.endif");
  };
  EXPECT_EQ(pick(1), 10U);
  EXPECT_EQ(pick(2), 20U);
  EXPECT_EQ(pick(3), 30U);
  EXPECT_EQ(pick(4), 40U);
}

TEST(AssemblerConditions, CompareTexts) {
  EXPECT_EQ(chosen(".ifc half, half\n setzi $m0, 1\n.else\n setzi $m0, 2\n.endif"), 1U);
  EXPECT_EQ(chosen(".ifc half ,  float\n setzi $m0, 1\n.else\n setzi $m0, 2\n.endif"), 2U);
  EXPECT_EQ(chosen(".ifnc \"a\", \"b\"\n setzi $m0, 1\n.endif"), 1U);
  EXPECT_EQ(chosen(".ifb\n setzi $m0, 1\n.endif"), 1U);
  EXPECT_EQ(chosen(".ifnb x\n setzi $m0, 1\n.endif"), 1U);
}

TEST(AssemblerConditions, CompareWithZeroAndAskForNames) {
  EXPECT_EQ(chosen(".ifeq 0\n setzi $m0, 1\n.endif"), 1U);
  EXPECT_EQ(chosen(".ifne 0\n.else\n setzi $m0, 1\n.endif"), 1U);
  EXPECT_EQ(chosen(".iflt -1\n setzi $m0, 1\n.endif"), 1U);
  EXPECT_EQ(chosen(".ifdef x\n nop\n.endif\n.equ x, 3\n.ifdef x\n setzi $m0, x\n.endif"), 3U);
  EXPECT_EQ(chosen(".ifndef y\n setzi $m0, 1\n.endif"), 1U);
}

TEST(AssemblerConditions, NestAndSkipWhatIsInside) {
  EXPECT_EQ(chosen(".if 0\n.if 1\n nonsense $\n.macro M\n.endif\n.else\n setzi $m0, 7\n.endif"),
            7U);
  EXPECT_EQ(chosen(".if 1\n.if 0\n nop\n.else\n setzi $m0, 7\n.endif\n.else\n nop\n.endif"), 7U);
  EXPECT_EQ(chosen(".if 0\n { nop\n }\n.endif\n setzi $m0, 7"), 7U);
}

TEST(AssemblerConditions, LeaveOutConditionsOfBranchesAfterTheOneTaken) {
  EXPECT_EQ(chosen(".if 1\n setzi $m0, 7\n.elseif what, is this\n nop\n.endif"), 7U);
}

TEST(AssemblerConditions, KnowTheAddressWhereTheyStand) {
  // graphcore/poplibs CommonPoplibsMacros.h.S: RPT_ALIGNED_TO.
  const std::string align =
      ".macro RPT_ALIGNED_TO label\n.if (. - \\label) & 0x7\n rpt $m0, (2f-1f)/8 -1\n.else\n"
      " { rpt $m0, (2f-1f)/8 -1\n fnop }\n.endif\n1:\n { nop ; fnop }\n2:\n.endm\n";
  EXPECT_EQ(words_of(align + ".align 8\nstart:\n nop\n RPT_ALIGNED_TO start").size(), 4U);
  EXPECT_EQ(words_of(align + ".align 8\nstart:\n nop\n nop\n RPT_ALIGNED_TO start").size(), 6U);
}

TEST(AssemblerConditions, AreRefusedWhenTheyDoNotMatch) {
  EXPECT_NE(problems_of(".if 1\nnop").at(0).find("test.S:1:1 a condition is not closed"),
            std::string::npos);
  EXPECT_NE(problems_of(".endif").at(0).find("`.endif` without `.if`"), std::string::npos);
  EXPECT_NE(problems_of(".else").at(0).find("`.else` without `.if`"), std::string::npos);
  EXPECT_NE(problems_of(".if 1\n.else\n.else\n.endif").at(0).find("test.S:3:1"), std::string::npos);
  EXPECT_NE(problems_of(".macro M\n.endif\n.endm\n.if 1\nM\n.endif").at(0).find("without `.if`"),
            std::string::npos);
  EXPECT_EQ(problems_of(".if later\n.endif\n.equ later, 1").at(0),
            "test.S:1:5 `later` is not known here: `.if` needs what is defined before it");
  EXPECT_NE(problems_of(".ifxy 1\n.endif").at(0).find("no directive"), std::string::npos);
}

TEST(AssemblerConditions, ErrorSaysItsText) {
  EXPECT_EQ(problems_of(".if 0\n.error \"a\"\n.endif\n .error \"not supported\"").at(0),
            "test.S:4:2 not supported");
}

}  // namespace
}  // namespace superstep
