#include "base/toml.h"

#include <gtest/gtest.h>

namespace superstep {
namespace {

/// The place and text of what is wrong, or an empty text.
std::string problem_of(const std::string& text) {
  try {
    (void)parse_toml(text, "f.toml");
  } catch (const MalformedInput& error) {
    return error.what();
  }
  return {};
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

::testing::AssertionResult begins_with(const std::string& text, const std::string& part) {
  if (text.starts_with(part)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text.substr(0, 200) << "' begins otherwise";
}

TEST(Toml, KeysOfManyPartsArePlacedErrors) {
  const std::string parts = repeated("a.", 200'000);
  EXPECT_TRUE(begins_with(problem_of("x = 1\n" + parts + "a = 1\n"), "f.toml:2:42: error: "));
  EXPECT_TRUE(begins_with(problem_of("[" + parts + "a]\n"), "f.toml:1:43: error: "));
  EXPECT_TRUE(begins_with(problem_of("[[" + parts + "a]]\n"), "f.toml:1:44: error: "));
  EXPECT_TRUE(begins_with(problem_of("x = { " + parts + "a = 1 }\n"), "f.toml:1:48: error: "));
  EXPECT_TRUE(begins_with(problem_of(repeated("'a' .\t", 200'000) + "a = 1\n"), "f.toml:1:"));
}

TEST(Toml, KeysBehindStringsWithQuotesArePlacedErrors) {
  const std::string parts = repeated("a.", 200'000) + "a = 1 }\n";
  for (const std::string before :
       {R"("\"")", R"('\')", R"("""a""b""""")", "'''a''b\n'''''", R"("""\"""""")", R"("\\")"}) {
    EXPECT_TRUE(begins_with(problem_of("x = { y = " + before + ", " + parts), "f.toml:")) << before;
    EXPECT_EQ(problem_of("x = { y = " + before + ", a.b = 1 }\n"), "") << before;
  }
}

TEST(Toml, DeepNestingIsAPlacedError) {
  for (const std::string open : {"[", "{a=", "[{a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p="}) {
    EXPECT_TRUE(begins_with(problem_of("a = " + repeated(open, 200'000)), "f.toml:1:")) << open;
  }
}

TEST(Toml, AMalformedNameOfATableIsAPlacedError) {
  const std::string before = "a = [1,\n2]\nb = \"\"\"\n[[[\n\"\"\"\n";
  EXPECT_TRUE(begins_with(problem_of(before + "[[[x]]]\nc = 1\n"), "f.toml:6: error: a key or"));
  EXPECT_TRUE(
      begins_with(problem_of(before + std::string(200'000, '[')), "f.toml:6: error: a key"));
}

TEST(Toml, WhatIsNoUtf8IsAPlacedError) {
  EXPECT_TRUE(begins_with(problem_of("a = 1\nb = \"\xff\xfe\"\n"), "f.toml:2:"));
  EXPECT_TRUE(begins_with(problem_of("# \xc3\n"), "f.toml:1:"));
}

TEST(Toml, DotsOfNumbersAndTextsAreNoPartsOfKeys) {
  const std::string numbers = "a = [" + repeated("1.5, ", 100'000) + "2.5]\n";
  const std::string texts = "b = '" + repeated("x.", 1000) + "'  # " + repeated("y.", 1000) + "\n";
  const std::string key = "\"" + repeated("z.", 1000) + "\" = 1\n";
  const toml::table table = parse_toml(
      numbers + texts + key + "c = \"\"\"" + repeated("line.\n", 1000) + "\"\"\"\n", "f.toml");
  EXPECT_EQ(table.get("a")->as_array()->size(), 100'001U);
  EXPECT_EQ(table.size(), 4U);
}

}  // namespace
}  // namespace superstep
