#include <gtest/gtest.h>

#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

TEST(AssemblerOperands, AreNamedWhereTheyAreWrong) {
  const auto problem = [](const std::string& text) { return problems_of(text).at(0); };
  EXPECT_EQ(problem("sync $m0"),
            "test.S:1:1 there is no `sync $m`; there is `sync unsigned "
            "4-bit number`");
  EXPECT_EQ(problem("add $m0, $m1, 70000"),
            "test.S:1:15 70000 where `add` takes -32768 to 32767, or 0 to 65535");
  EXPECT_EQ(problem("add $m0, $m1 $m2"), "test.S:1:10 a comma is missing before `$m2`");
  EXPECT_EQ(problem("f32add m0, $a1, $a2"), "test.S:1:8 `m0` is not defined; did you mean `$m0`?");
  EXPECT_EQ(problem("mov $a0, $m0"),
            "test.S:1:1 there is no `mov` of these operands; there is `mov $m, $m`, `mov $a, $a`, "
            "`mov $a pair, $a pair` and `mov $m, $a`");
  EXPECT_EQ(problem("nop 5"), "test.S:1:1 there is no `nop` of these operands; there is `nop`");
  EXPECT_EQ(problem("zero $m0:1").find("test.S:1:1 there is no `zero` of these operands"), 0U);
  EXPECT_EQ(problem("setzi $m0, -1"),
            "test.S:1:12 -1 where `setzi` takes 0 to 1048575; `ldconst` takes 32 bits");
  EXPECT_EQ(problem("ADD $m0, $m1, $m2"),
            "test.S:1:1 `ADD` is no instruction; did you mean `add`?");
  EXPECT_EQ(problem("5"),
            "test.S:1:1 `5` where an instruction, a label or a directive is expected");
}

TEST(AssemblerBundles, InTwoSectionsAreRefused) {
  const std::vector<std::string> problems = problems_of("{ nop\n.section .x, \"ax\"\n fnop }");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0], "test.S:1:1 a section begins inside a bundle");
}

TEST(AssemblerOperands, DoNotHideWhatElseIsWrong) {
  // A statement that is wrong takes its place: what follows is checked where it would be.
  const std::vector<std::string> problems = problems_of(
      ".align 8\nadd $m0, 08\nrpt $m0, 1\n{ nop ; fnop }\nnop\n"
      "{ ld32 $a0, $m0, $m1, 0 ; f32add $a0, $a1, $a2 }");
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_NE(problems[0].find("test.S:2:10 a malformed number"), std::string::npos);
  EXPECT_NE(problems[1].find("test.S:3:1 the body of `rpt` is 2 bundles"), std::string::npos);
  EXPECT_NE(problems[2].find("write the same register"), std::string::npos);
}

TEST(AssemblerOperands, OfAnImmediateChooseTheSignedOrTheUnsignedForm) {
  // graphcore/llvm-project-fork llvm/test/MC/Colossus/insn-good.s.
  EXPECT_EQ(words_of("add $m0, $m0, 42")[0], words_of("adds $m0, $m0, 42")[0]);
  EXPECT_EQ(words_of("add $m0, $m0, -42")[0], words_of("adds $m0, $m0, -42")[0]);
  EXPECT_EQ(words_of("sub $m0, $m1, 42")[0], words_of("add $m0, $m1, -42")[0]);
  EXPECT_NE(problems_of("adds $m0, $m0, 32768").at(0).find("-32768 to 32767"), std::string::npos);
}

TEST(AssemblerOperands, OfUpperBitsMayBeWrittenAsNegativeNumbers) {
  EXPECT_EQ(words_of("or $m0, $m0, -1048576"), words_of("or $m0, $m0, 4293918720"));
  EXPECT_EQ(words_of("or $m0, $m0, 575 << 20"), words_of("or $m0, $m0, 0x23f00000"));
}

TEST(AssemblerOperands, LeaveOutTheDelta) {
  EXPECT_EQ(words_of("ld32 $m1, $m2, 3"), words_of("ld32 $m1, $m2, $mzero, 3"));
  EXPECT_EQ(words_of("ld32 $m1, $m2, $m3"), words_of("ld32 $m1, $m2, $mzero, $m3"));
  EXPECT_EQ(words_of("st32 $m1, $m2, 3"), words_of("st32 $m1, $m2, $mzero, 3"));
}

TEST(AssemblerOperands, OfStm32stepMayNameTheStep) {
  // graphcore/ipu_assembly_support has it, the toolchain's tests do not.
  EXPECT_EQ(words_of("stm32step $m0, $m1+=, $m2"), words_of("stm32step $m0, $m1, $m2"));
}

TEST(AssemblerOperands, TakeAzeroForMzero) {
  // graphcore/poplibs NonLinearityGrad2DSwish.S.
  EXPECT_EQ(words_of("ld32 $a0, $m4, $azero, 0"), words_of("ld32 $a0, $m4, $mzero, 0"));
}

TEST(AssemblerOperands, BroadcastTheLowerValueUnderTwoNames) {
  // graphcore/poplibs OuterProduct.S and TruncatedNormal.S.
  EXPECT_EQ(words_of("f16v4mul $a0:1, $a2:B, $a4:5"), words_of("f16v4mul $a0:1, $a2:BL, $a4:5"));
  EXPECT_EQ(words_of("f32v2mul $a0:1, $a2:BL, $a4:5"), words_of("f32v2mul $a0:1, $a2:B, $a4:5"));
}

TEST(AssemblerOperands, MayStandInUglyText) {
  EXPECT_EQ(words_of("f32v2add $ a0 : 1 , $a2: 3,$a4 :5"),
            words_of("f32v2add $a0:1, $a2:3, $a4:5"));
  EXPECT_EQ(words_of("ld32step $m0, $mzero, $m1 +=, 1"),
            words_of("ld32step $m0, $mzero, $m1+=, 1"));
}

TEST(AssemblerOperands, SayWhatIsAllowed) {
  EXPECT_NE(problems_of("f32v2add $a1:2, $a0:1, $a0:1").at(0).find("test.S:1:10 `$a1:2` is no"),
            std::string::npos);
  EXPECT_NE(problems_of("ld32step $m0, $mzero, $m1+, 1").at(0).find("`+=`, `++`"),
            std::string::npos);
  EXPECT_NE(problems_of("ld32step $m0, $mzero, $m1, 1")
                .at(0)
                .find("there is no `ld32step $m, $m, $m, number`"),
            std::string::npos);
  EXPECT_NE(problems_of("setzi $m0, 1048576")
                .at(0)
                .find("test.S:1:12 1048576 where `setzi` takes 0 to 1048575"),
            std::string::npos);
  EXPECT_NE(problems_of("setzi $m0,").at(0).find("operand is missing"), std::string::npos);
  EXPECT_NE(problems_of("setzi $m16, 1").at(0).find("1:7 there is no register `$m16`"),
            std::string::npos);
  EXPECT_NE(problems_of("st32 $m1 $m2, 3").at(0).find("a comma is missing before `$m2`"),
            std::string::npos);
}

TEST(AssemblerText, EndsStatementsAtLinesSemicolonsAndBraces) {
  EXPECT_EQ(words_of("nop;nop ; nop\nnop").size(), 4U);
  EXPECT_EQ(words_of("{nop;fnop}{nop\nfnop}\n{ nop\n\n fnop\n}").size(), 6U);
  EXPECT_EQ(words_of("a: b: nop\n# comment\n // comment\n nop /* one\n two */ nop").size(), 3U);
}

TEST(AssemblerText, NamesFilesAndLinesAsThePreprocessorDid) {
  const std::vector<std::string> found = problems_of(
      "# 1 \"main.S\"\nnop\n# 7 \"inner.h\" 1\n.macro M\n bad\n.endm\n# 3 \"main.S\" 2\n  "
      "M\nworse\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].substr(0, 16), "inner.h:8:2 `bad");
  EXPECT_NE(found[0].find("expanded from main.S:3:3"), std::string::npos);
  EXPECT_EQ(found[1].substr(0, 11), "main.S:4:1 ");
}

TEST(AssemblerText, ReportsAllProblemsInTheirOrder) {
  const std::vector<std::string> found =
      problems_of("bri 1f\nadd $m0, $m1, later\nfoo\n.bar\n{ nop }\nsetzi $m0, -1\n\x01\n");
  ASSERT_EQ(found.size(), 6U);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1][7], found[i][7] + 1);
  EXPECT_NE(found[0].find("1:5 `1f` is not defined"), std::string::npos);
}

TEST(AssemblerText, ReportsAMistakeInAMacroOnce) {
  EXPECT_EQ(problems_of(".macro M\n bad\n.endm\nM\nM\nM").size(), 1U);
}

}  // namespace
}  // namespace superstep
