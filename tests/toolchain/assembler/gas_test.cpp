// Directives, macros and expressions that do not depend on a machine: GNU as 2.40 and LLVM 14's
// assembler both make these bytes of these texts.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

/// The data section of a text in hexadecimal.
std::string data_of(const std::string& text) {
  const Object object = object_of(".data\n" + text);
  std::string digits;
  for (const std::uint8_t byte : object.sections.at(1).bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

TEST(AssemblerAsInGas, BlocksMayStandOnOneLine) {
  EXPECT_EQ(data_of(".macro m; .byte 1; .endm\nm; m"), "0101");
  EXPECT_EQ(data_of(".rept 2; .byte 1; .endr; .byte 2"), "010102");
  EXPECT_EQ(data_of(".irp x,1,2; .byte \\x; .endr\n.byte 7"), "010207");
  EXPECT_EQ(data_of(".rep 2\n.byte 1\n.endr"), "0101");
  EXPECT_EQ(data_of("1: .rept 2\n2: .byte 1\n.endr"), "0101");
}

TEST(AssemblerAsInGas, RepeatedValuesAreThoseOfMacros) {
  EXPECT_EQ(data_of(".irp r, \"a,b\", c\n.ascii \"<\\r>\"\n.endr"), "3c612c623e3c633e");
  EXPECT_EQ(data_of(".irp x,1 2 (1 + 2)\n.byte \\x\n.endr"), "010203");
  EXPECT_EQ(data_of(".irp x,1,,2\n.byte 9\\x\n.endr"), "5b095c");
  EXPECT_EQ(data_of(".irpc c,123\n.byte \\c\n.endr"), "010203");
  EXPECT_EQ(data_of(".macro m a\n.irp x,\\a,7\n.byte \\x\n.endr\n.endm\nm 3\nm \"4,5\""),
            "0307040507");
  EXPECT_NE(problems_of(".irp\n.endr").at(0).find("`.irp name, values` is expected"),
            std::string::npos);
}

TEST(AssemblerAsInGas, AlignmentHasAFillingAndAMost) {
  EXPECT_EQ(data_of(".byte 1\n.balign 4,0x55\n.byte 2\n.balign 16,0x66,3\n.byte 3\n.p2align 3,7\n"
                    ".byte 4\n.p2align 4,,2\n.byte 5\n.balign 4,,3\n.byte 6"),
            "01555555020307070405000006");
  EXPECT_EQ(data_of(".byte 1\n.align 0\n.byte 2"), "0102");
}

TEST(AssemblerAsInGas, TheLocationCanBeSet) {
  EXPECT_EQ(data_of(".byte 1\n.org 4\n.byte 2\n.org .+2, 0xee\n.byte 3"), "0100000002eeee03");
  EXPECT_EQ(data_of("a: .byte 1\n.org a+3\n.byte 2"), "01000002");
  EXPECT_EQ(data_of(".byte 1,2,3\n.=.+2\n.byte 4"), "010203000004");
  EXPECT_EQ(problems_of(".org 4\n .org 2").at(0),
            "test.S:2:7 a place in this section from its byte 4 on is expected");
}

TEST(AssemblerAsInGas, CommentsMayHoldAnyBytesAndTextABomInFront) {
  EXPECT_EQ(data_of("// caf\xe9\n.byte 1 # \xff\n/* \x80 */ .byte 2"), "0102");
  EXPECT_EQ(object_of("\xef\xbb\xbf.data\n.byte 3").sections.at(1).bytes.at(0), 3);
}

TEST(AssemblerStrings, MustBeText) {
  EXPECT_EQ(problems_of(".ascii \"caf\xe9\"").at(0),
            "test.S:1:8 a string with a byte that is no UTF-8 text; write it as an escape such as "
            "`\\xff`");
}

TEST(AssemblerAsInGas, DirectivesMayBeginWithADigit) {
  EXPECT_EQ(data_of(".2byte 2\n.4byte 3\n.8byte 4\n.hword 1"),
            "0200030000000400000000000000"
            "0100");
  EXPECT_EQ(data_of(".float .5, 5., 1.5e+3"), "0000003f0000a0400080bb44");
}

TEST(AssemblerAsInGas, StringsAndCharactersHaveEscapes) {
  EXPECT_EQ(data_of(".ascii \"a\\tb\\n\\\\\\\"\\x41\\101\\0\""), "6109620a5c22414100");
  EXPECT_EQ(data_of(".ascii \"\\1012\\x4142\""), "413242");
  EXPECT_EQ(data_of(".ascii \"a\" \"b\", \"c\""), "616263");
  EXPECT_EQ(data_of(".byte 'a', '\\n', '\\\\', '\\'', '#', '/', ';', '\"' # comment"),
            "610a5c27232f3b22");
  EXPECT_EQ(data_of(".float inf, -inf\n.double infinity"), "0000807f000080ff000000000000f07f");
}

TEST(AssemblerAsInGas, ExpressionsHaveEveryOperator) {
  EXPECT_EQ(data_of(".byte 5!3, 5 ! 3, 5 ++ 3, ++5, 0B11, 0X1f"), "fdfd0805031f");
  EXPECT_EQ(data_of(".byte 3 > 2 > 1, 1 < 2 < 3, 1|6^3, 6&3|8, 1||0&&0"), "00ff040a01");
}

TEST(AssemblerAsInGas, StringsCanBeCompared) {
  EXPECT_EQ(
      data_of(".ifeqs \"a;b\",\"a;b\"\n.byte 1\n.endif\n.ifnes \"a\", \"b\"\n.byte 2\n.endif\n"
              ".ifeqs \"a,b\",\"b\"\n.byte 3\n.endif"),
      "0102");
  EXPECT_NE(problems_of(".ifeqs a, b\n.endif").at(0).find("two strings in quotes"),
            std::string::npos);
}

TEST(AssemblerAsInGas, SectionsComeBackInPairs) {
  const Object object = object_of(
      ".section .a\n.section .b\n.pushsection .c\n.previous\n.byte 5\n.popsection\n.byte 6\n"
      ".previous\n.byte 7");
  ASSERT_EQ(object.sections.size(), 4U);
  EXPECT_EQ(object.sections[1].bytes, std::vector<std::uint8_t>{7});
  EXPECT_EQ(object.sections[2].bytes, (std::vector<std::uint8_t>{5, 6}));
  EXPECT_TRUE(object.sections[3].bytes.empty());
}

TEST(AssemblerAsInGas, EquivSetsANameOnce) {
  EXPECT_EQ(data_of(".equiv a,1\n.byte a"), "01");
  EXPECT_EQ(problems_of(".equiv a,1\n.equiv a,2").at(0),
            "test.S:2:8 `a` is defined already, at test.S:1:8; `.equ` may set a name again");
}

TEST(AssemblerAsInGas, NothingCountsBehindTheEnd) {
  EXPECT_EQ(data_of(".macro m\n.if 1\n.byte 1\n.end\n.endif\n.endm\nm\ngarbage here"), "01");
}

}  // namespace
}  // namespace superstep
