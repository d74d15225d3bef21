#include <gtest/gtest.h>

#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

TEST(AssemblerMacros, PutValuesForTheirParameters) {
  EXPECT_EQ(words_of(".macro LOAD r, v\n setzi $\\r, \\v\n.endm\nLOAD m1, 5\nLOAD m2 6"),
            words_of("setzi $m1, 5\nsetzi $m2, 6"));
}

TEST(AssemblerMacros, HaveDefaultsAndTakeValuesByName) {
  const std::string macro = ".macro LOAD r=m3 v=7\n setzi $\\r, \\v\n.endm\n";
  EXPECT_EQ(words_of(macro + "LOAD"), words_of("setzi $m3, 7"));
  EXPECT_EQ(words_of(macro + "LOAD m1"), words_of("setzi $m1, 7"));
  EXPECT_EQ(words_of(macro + "LOAD v=9"), words_of("setzi $m3, 9"));
  EXPECT_EQ(words_of(macro + "LOAD v = 9, r=m2"), words_of("setzi $m2, 9"));
  EXPECT_EQ(words_of(macro + "LOAD , 8"), words_of("setzi $m3, 8"));
}

TEST(AssemblerMacros, TellAnEmptyStringFromNothing) {
  const std::string macro = ".macro M a=nop, b\n \\a\n \\b\n.endm\n";
  EXPECT_EQ(words_of(macro + "M").size(), 1U);
  EXPECT_EQ(words_of(macro + "M \"\" nop").size(), 1U);
  EXPECT_EQ(words_of(macro + "M \"\" \"\"").size(), 0U);
}

TEST(AssemblerMacros, TakeAWholeInstructionInQuotesOrAsTheRest) {
  EXPECT_EQ(words_of(".macro DO what\n { nop\n \\what }\n.endm\nDO \"f32add $a0, $a1, $a2\""),
            words_of("{ nop ; f32add $a0, $a1, $a2 }"));
  EXPECT_EQ(words_of(".macro DO a, what:vararg\n \\a\n \\what\n.endm\nDO nop add $m0, $m1, $m2"),
            words_of("nop\nadd $m0, $m1, $m2"));
}

TEST(AssemblerMacros, KeepExpressionsWithBlanksTogether) {
  const std::string macro = ".macro TWO a b\n setzi $m0, \\a\n setzi $m1, \\b\n.endm\n";
  EXPECT_EQ(words_of(macro + "TWO 1 + 2 (3 * 4)"), words_of("setzi $m0, 3\nsetzi $m1, 12"));
}

TEST(AssemblerMacros, NumberTheirCalls) {
  EXPECT_EQ(words_of(".macro SKIP\n bri .Lend\\@\n nop\n.Lend\\@:\n.endm\nSKIP\nSKIP").size(), 4U);
}

TEST(AssemblerMacros, EndANameBeforeEmptyParentheses) {
  EXPECT_EQ(words_of(".macro LOAD kind\n set\\kind\\()i $m0, 1\n.endm\nLOAD z"),
            words_of("setzi $m0, 1"));
}

TEST(AssemblerMacros, DefineAndCallOtherMacros) {
  EXPECT_EQ(words_of(".macro OUTER name\n.macro \\name v\n setzi $m0, \\v\n.endm\n.endm\n"
                     "OUTER INNER\nINNER 4"),
            words_of("setzi $m0, 4"));
  EXPECT_EQ(words_of(".macro A x\n B \\x, 1\n.endm\n.macro B x, y\n setzi $\\x, \\y\n.endm\nA m5"),
            words_of("setzi $m5, 1"));
}

TEST(AssemblerMacros, HoldHalvesOfBundles) {
  EXPECT_EQ(words_of(".macro OPEN\n { nop\n.endm\n.macro CLOSE\n fnop }\n.endm\nOPEN\nCLOSE"),
            words_of("{ nop ; fnop }"));
}

TEST(AssemblerMacros, EndWhereTheySaySo) {
  EXPECT_EQ(
      words_of(".macro M x\n.if \\x\n nop\n.exitm\n.endif\n nop\n nop\n.endm\nM 1\nM 0").size(),
      3U);
}

TEST(AssemblerMacros, ThatCallThemselvesForeverAreRefused) {
  const std::vector<std::string> found = problems_of(".macro M\n nop\n M\n M\n.endm\nM");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("test.S:3:2 macros are nested more than 64 deep"), std::string::npos);
}

TEST(AssemblerMacros, ThatMakeTooMuchTextAreRefused) {
  std::string text = ".macro M0\n nop\n.endm\n";
  for (int i = 1; i < 40; ++i) {
    text += ".macro M" + std::to_string(i) + "\n";
    for (int k = 0; k < 2; ++k) text += " M" + std::to_string(i - 1) + "\n";
    text += ".endm\n";
  }
  const std::vector<std::string> found = problems_of(text + "M39");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("more than 16 MiB"), std::string::npos);
}

TEST(AssemblerMacros, RefuseWrongValues) {
  EXPECT_NE(problems_of(".macro m x\n setzi $m0, \\y\n.endm\nm 1").at(0).find("no parameter"),
            std::string::npos);
  const std::string macro = ".macro M a:req, b\n nop\n.endm\n";
  EXPECT_NE(problems_of(macro + "M").at(0).find("test.S:4:2 macro `M` needs a value for `a`"),
            std::string::npos);
  EXPECT_NE(problems_of(macro + "M 1, 2, 3").at(0).find("test.S:4:9 macro `M` takes 2 values"),
            std::string::npos);
  EXPECT_NE(problems_of(macro + "M c=1").at(0).find("has no parameter `c`"), std::string::npos);
  EXPECT_NE(problems_of(".macro M\n nop\n").at(0).find("not closed by `.endm`"), std::string::npos);
  EXPECT_NE(problems_of(".endm").at(0).find("without what it closes"), std::string::npos);
}

TEST(AssemblerMacros, SayWhereTheyWereCalled) {
  const std::vector<std::string> found = problems_of(
      ".macro INNER r\n  add $m0, $\\r, $a1\n.endm\n.macro OUTER\n  INNER m1\n.endm\nnop\n  "
      "OUTER\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].substr(0, 13), "test.S:2:3 th");
  EXPECT_NE(found[0].find("; expanded from test.S:5:3, from test.S:8:3"), std::string::npos);
}

TEST(AssemblerMacros, KeepColumnsOfTheirBodies) {
  const std::vector<std::string> found =
      problems_of(".macro M register\n  setzi $\\register, 1 +\n.endm\nM m1\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].substr(0, 33), "test.S:2:23 a value is missing; e");
}

TEST(AssemblerRepetitions, RepeatTheirLines) {
  EXPECT_EQ(words_of(".rept 3\n nop\n fnop\n.endr").size(), 6U);
  EXPECT_EQ(words_of(".rept 2\n.rept 2\n nop\n.endr\n.endr").size(), 4U);
  EXPECT_EQ(words_of(".irp r, m1, m2\n setzi $\\r, 3\n.endr"),
            words_of("setzi $m1, 3\nsetzi $m2, 3"));
  EXPECT_EQ(words_of(".irpc n, 12\n setzi $m\\n, 3\n.endr"),
            words_of("setzi $m1, 3\nsetzi $m2, 3"));
  EXPECT_NE(problems_of(".rept 100000000\n nop\n.endr").at(0).find("16 MiB"), std::string::npos);
}

}  // namespace
}  // namespace superstep
