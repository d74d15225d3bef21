#include <gtest/gtest.h>

#include "base/error.h"
#include "toolchain/assembler.h"

namespace superstep {
namespace {

std::vector<std::uint32_t> words(const std::string& text) { return assemble(text, "test.S").words; }

std::vector<std::string> errors(const std::string& text) {
  try {
    words(text);
  } catch (const MalformedInput& input) {
    std::vector<std::string> out;
    for (const Problem& problem : input.problems()) {
      out.push_back(problem.where.text() + " " + problem.message);
    }
    return out;
  }
  return {};
}

TEST(Assembler, TakesAliasesForTheInstructionsTheyStandFor) {
  EXPECT_EQ(words("nop"), words("setzi $m14, 0"));
  EXPECT_EQ(words("fnop"), words("setzi $a13, 0"));
  EXPECT_EQ(words("zero $a1"), words("or $a1, $a15, $a15"));
  EXPECT_EQ(words("zero $a2:3"), words("or64 $a2:3, $azeros, $azeros"));
  EXPECT_EQ(words("get $a1, $FP_STS"), words("uget $a1, 0"));
  EXPECT_EQ(words("mov $m1, $m2"), words("or $m1, $m2, 0"));
  EXPECT_EQ(words("mov $a1, $a2"), words("or $a1, $a2, 0"));
  EXPECT_EQ(words("mov $a2:3, $a4:5"), words("or64 $a2:3, $a4:5, $azeros"));
  EXPECT_EQ(words("mov $m1, $a2"), words("atom $m1, $a2"));
  EXPECT_EQ(words("sub $m1, $m2, 3"), words("add $m1, $m2, -3"));
  EXPECT_EQ(words("swap16 $a1, $a2"), words("roll16 $a1, $a2, $a2"));
  EXPECT_EQ(words("ld32 $m1, $m2, 3"), words("ld32 $m1, $m2, $mzero, 3"));
}

TEST(Assembler, GivesAConstantOneOrTwoWords) {
  EXPECT_EQ(words("ldconst $m1, 0xfffff"), words("setzi $m1, 0xfffff"));
  EXPECT_EQ(words("ldconst $a1, 1.0h"), words("setzi $a1, 0x3c00"));
  EXPECT_EQ(words("ldconst $m3, 0x12345678"),
            words("setzi $m3, 0x45678\n or $m3, $m3, 0x12300000"));
  EXPECT_EQ(words("ldconst $a3, 0x12345678"),
            words("setzi $a3, 0x45678\n or $a3, $a3, 0x12300000"));
}

TEST(Assembler, EvaluatesExpressionsAndLabelDifferences) {
  EXPECT_EQ(words(".equ N, 3\n setzi $m0, (N + 1) * 8 - (1 << 2)"), words("setzi $m0, 28"));
  EXPECT_EQ(words("nop\n rpt $m0, ((2f - 1f) / 8) - 1\n1:\n{ nop ; fnop }\n{ nop ; fnop }\n2:\n"
                  "exitz $mzero")
                .size(),
            7U);
  EXPECT_EQ(words("1: nop\n bri 1b\n bri 1f\n1: nop")[1] & 0x7ffffU, 0U);
  EXPECT_EQ(words("1: nop\n bri 1b\n bri 1f\n1: nop")[2] & 0x7ffffU, 3U);
}

TEST(Assembler, ReadsCommentsDirectivesAndRegisterNames) {
  EXPECT_EQ(words("# a\n// b\n/* c\n d */ .align 8\n nop // e\n .align 8\n .int 1, 0xff"),
            (std::vector<std::uint32_t>{0x19e00000, 0x19e00000, 1, 0xff}));
  EXPECT_EQ(words("get $m0, $WSR"), words("get $m0, 1"));
  EXPECT_EQ(words("put $CCCSLOAD, $m0"), words("put 80, $m0"));
  EXPECT_EQ(words("uput $FP_CLR, $a0"), words("uput 1, $a0"));
  EXPECT_EQ(words("ld64putcs CWEI_3_1"), words("ld64putcs 13"));
  EXPECT_EQ(words("br $lr"), words("br $m10"));
}

TEST(Assembler, ReportsEveryErrorWithItsPlace) {
  const std::vector<std::string> found =
      errors("nop\n  ad $m1, $m2, $m3\nbri nowhere\n add $m1, $a2, $m3\n{ nop }\n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].substr(0, 52), "test.S:2:3 `ad` is no instruction; did you mean `add");
  EXPECT_EQ(found[1], "test.S:3:5 `nowhere` is not defined");
  EXPECT_NE(found[2].find("test.S:4:2 there is no `add"), std::string::npos);
  EXPECT_NE(found[3].find("test.S:5:1 a bundle has two instructions"), std::string::npos);
}

TEST(Assembler, RefusesBundlesAndRepeatsThatTheMachineHasNot) {
  EXPECT_NE(errors("{ fnop ; nop }").at(0).find("auxiliary pipe"), std::string::npos);
  EXPECT_NE(errors("{ ld32 $a1, $m0, 0 ; setzi $a1, 3 }").at(0).find("same register"),
            std::string::npos);
  EXPECT_NE(errors("nop\n rpt $m0, 0\n nop\n{ nop ; fnop }").at(0).find("not all"),
            std::string::npos);
  EXPECT_NE(errors("rpt $m0, 0\n{ nop ; fnop }").at(0).find("8-byte"), std::string::npos);
  EXPECT_NE(errors("f32v2add $a1:2, $a0:1, $a0:1").at(0).find("pair"), std::string::npos);
}

}  // namespace
}  // namespace superstep
