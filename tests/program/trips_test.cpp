#include "compiler/program/trips.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"

namespace superstep {
namespace {

/// A loop that counts from `first` by `change` as long as the number compares so with `limit`.
std::optional<std::uint64_t> trips(const std::string& first, const std::string& compare,
                                   const std::string& limit, const std::string& change,
                                   const std::string& type = "i32") {
  const std::string text = fmt::format(
      "func.func @main(%y0: tensor<8xf32>, %given: tensor<{4}>) -> tensor<8xf32> {{\n"
      "%first = {0}\n%limit = {2}\n"
      "%change = stablehlo.constant dense<{3}> : tensor<{4}>\n"
      "%0:2 = stablehlo.while(%i = %first, %y = %y0) : tensor<{4}>, tensor<8xf32>\n"
      "cond {{\n"
      "%p = stablehlo.compare {1}, %i, %limit, {5} : (tensor<{4}>, tensor<{4}>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n"
      "}} do {{\n"
      "%z = stablehlo.add %y, %y : tensor<8xf32>\n"
      "%j = stablehlo.add %i, %change : tensor<{4}>\n"
      "stablehlo.return %j, %z : tensor<{4}>, tensor<8xf32>\n}}\n"
      "return %0#1 : tensor<8xf32>\n}}",
      first, compare, limit, change, type, type == "i32" ? "SIGNED" : "UNSIGNED");
  const LoweredProgram program = lower(import_stablehlo(text, "test.mlir"), load_machine("tiny4"));
  const std::vector<Step>& steps = program.main.steps;
  const auto loop = std::ranges::find_if(
      steps, [](const Step& step) { return std::holds_alternative<Loop>(step); });
  EXPECT_NE(loop, steps.end());
  return loop == steps.end() ? std::nullopt : trips_of(std::get<Loop>(*loop));
}

std::string number(std::int64_t n, const std::string& type = "i32") {
  return fmt::format("stablehlo.constant dense<{}> : tensor<{}>", n, type);
}

TEST(Trips, OfACountBetweenConstantsAreKnown) {
  EXPECT_EQ(trips(number(0), "LT", number(10), "1"), 10U);
  EXPECT_EQ(trips(number(0), "LT", number(10), "3"), 4U);
  EXPECT_EQ(trips(number(0), "LE", number(9), "3"), 4U);
  EXPECT_EQ(trips(number(-4), "LT", number(3), "2"), 4U);
  EXPECT_EQ(trips(number(10), "GT", number(0), "-1"), 10U);
  EXPECT_EQ(trips(number(10), "GE", number(0), "-3"), 4U);
  EXPECT_EQ(trips(number(0), "NE", number(12), "4"), 3U);
  EXPECT_EQ(trips(number(5), "LT", number(5), "1"), 0U);
  EXPECT_EQ(trips(number(1, "ui32"), "LT", number(4000000000, "ui32"), "1000000000", "ui32"), 4U);
}

TEST(Trips, ThatFollowFromDataOrNeverEndAreNot) {
  const std::string given = "stablehlo.add %given, %given : tensor<i32>";
  EXPECT_EQ(trips(number(0), "LT", given, "1"), std::nullopt);
  EXPECT_EQ(trips(given, "LT", number(10), "1"), std::nullopt);
  EXPECT_EQ(trips(number(0), "NE", number(10), "3"), std::nullopt);
  EXPECT_EQ(trips(number(0), "LT", number(10), "-1"), std::nullopt);
  EXPECT_EQ(trips(number(0), "LE", number(2147483647), "1"), std::nullopt);
}

}  // namespace
}  // namespace superstep
