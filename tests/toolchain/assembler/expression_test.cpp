#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

std::int64_t value_of(const std::string& expression) {
  const Object object = object_of(".data\n.quad " + expression);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    value |= std::uint64_t{object.sections.at(1).bytes.at(i)} << 8 * i;
  }
  return static_cast<std::int64_t>(value);
}

TEST(AssemblerExpressions, BindAsInGas) {
  EXPECT_EQ(value_of("2 + 3 * 4 - 20 / 6 % 2"), 13);
  EXPECT_EQ(value_of("1 + 2 << 3"), 17);  // shifts like products
  EXPECT_EQ(value_of("1 + 6 & 3"), 3);    // `&` before `+`
  EXPECT_EQ(value_of("4 | 1 ^ 5"), 0);    // equal, from the left
  EXPECT_EQ(value_of("1 == 1 + 0"), -1);
  EXPECT_EQ(value_of("2 < 1 || 3 != 3 && 1"), 0);
  EXPECT_EQ(value_of("~((1 << 20) - 1)"), -1048576);
  EXPECT_EQ(value_of("!0 + !5 - -3"), 4);
  EXPECT_EQ(value_of("-8 >> 60"), 15);  // without sign
}

TEST(AssemblerExpressions, TakeEveryKindOfNumber) {
  EXPECT_EQ(value_of("0x1F + 0b101 + 010 + 12"), 31 + 5 + 8 + 12);
  EXPECT_EQ(value_of("0xFFFFFFFFU"), 4294967295);
  EXPECT_EQ(value_of("'a'"), 97);
  EXPECT_EQ(value_of("1.0f"), 0x3f800000);
  // graphcore/llvm-project-fork llvm/test/MC/Colossus: f16 literals.
  EXPECT_EQ(value_of("1.0h"), 15360);
  EXPECT_EQ(value_of("-2.0h"), 49152);
  EXPECT_EQ(value_of("-0.0h"), 32768);
  EXPECT_EQ(value_of("infh"), 31744);
  EXPECT_EQ(value_of("-infh"), 64512);
  EXPECT_EQ(value_of("nanh"), 0x7e00);
  EXPECT_EQ(value_of("5.96046e-8h"), 1);
  EXPECT_EQ(value_of("0.333251953125h"), 13653);
}

TEST(AssemblerExpressions, UseTheLatestDefinitionBeforeThem) {
  EXPECT_EQ(
      words_of(".equ N, 1\n setzi $m0, N\n.set N, N + 1\n setzi $m0, N\nN = 7\n setzi $m0, N"),
      words_of("setzi $m0, 1\nsetzi $m0, 2\nsetzi $m0, 7"));
  // What waits for a label keeps the value of its own place.
  EXPECT_EQ(words_of(".equ N, 1\n setzi $m0, (1f - .) + N\n.equ N, 100\n1:"),
            words_of("setzi $m0, 5"));
}

TEST(AssemblerExpressions, UseLongChainsOfNames) {
  std::string forward, backward;
  for (int i = 0; i < 2'000; ++i) {
    forward += fmt::format("n{} = n{} + 1\n", i, i + 1);
    backward = fmt::format("n{} = n{} + 1\n", i, i + 1) + backward;
  }
  EXPECT_EQ(value_of("n0\n" + forward + "n2000 = 2"), 2'002);
  EXPECT_NE(problems_of(backward + "n2000 = 2").at(0).find("more than 500 names"),
            std::string::npos);
}

TEST(AssemblerExpressions, UseWhatComesLater) {
  EXPECT_EQ(words_of(" setzi $m0, later * 2\n.set later, 21"), words_of("setzi $m0, 42"));
  EXPECT_EQ(
      words_of(".equ size, end - begin\nbegin: nop\n nop\nend: setzi $m0, size")[2] & 0xfffffU, 8U);
  EXPECT_NE(problems_of(".equ a, b\n.equ b, a\n setzi $m0, a").at(0).find("defined by itself"),
            std::string::npos);
  EXPECT_NE(problems_of("a = a + nowhere * 2").at(0).find("defined by itself"), std::string::npos);
}

TEST(AssemblerExpressions, KnowNumericLabelsBeforeAndAfter) {
  const std::vector<std::uint32_t> words = words_of("1: nop\n1: .int 1b - ., 1f - .\n1: nop");
  EXPECT_EQ(words[1], 0U);
  EXPECT_EQ(words[2], 4U);
  EXPECT_NE(problems_of("bri 1b").at(0).find("`1b` is not defined"), std::string::npos);
  EXPECT_NE(problems_of("1: bri 1f").at(0).find("`1f` is not defined"), std::string::npos);
}

TEST(AssemblerExpressions, TakeNamesWithADollar) {
  EXPECT_EQ(words_of(".set $number, 50\n get $m1, $number"), words_of("get $m1, 50"));
}

TEST(AssemblerExpressions, SayWhatIsWrong) {
  EXPECT_NE(problems_of("setzi $m0, 1 / 0").at(0).find("division by zero"), std::string::npos);
  EXPECT_NE(problems_of("setzi $m0, (1").at(0).find("`)` is missing"), std::string::npos);
  EXPECT_NE(problems_of("setzi $m0, 1.5").at(0).find("needs a suffix"), std::string::npos);
  EXPECT_NE(problems_of("setzi $m0, 12monkeys").at(0).find("malformed number"), std::string::npos);
  EXPECT_NE(problems_of("a: nop\nb: setzi $m0, a * 2").at(0).find("a label takes only"),
            std::string::npos);
  EXPECT_NE(problems_of("setzi $m0, " + std::string(1000, '(')).at(0).find("nested too deep"),
            std::string::npos);
  EXPECT_NE(problems_of("setzi $m0, " + std::string(1000, '-') + "1").at(0).find("too deep"),
            std::string::npos);
}

}  // namespace
}  // namespace superstep
