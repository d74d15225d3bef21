// What the visits of an image may bring.

#include <gtest/gtest.h>

#include "tests/sim/call_programs.h"

namespace superstep {
namespace {

std::string first_problem(const ProgramImage& image) {
  const std::vector<Problem> found = problems(image);
  return found.empty() ? "" : found.front().message;
}

TEST(ImageVisits, BringOneValueOfAnInfeed) {
  ProgramImage image = feeds();
  ASSERT_EQ(first_problem(image), "");
  image.streams.push_back(image.streams[0]);
  image.visits[0].phase.arguments = {0, 2};
  EXPECT_EQ(first_problem(image),
            "visits[0]: stream 2 takes a second value of position 0: a visit brings one");
  image.visits[0].phase.arguments = {0, 0};
  EXPECT_EQ(first_problem(image),
            "visits[0]: stream 0 takes a second value of position 0: a visit brings one");
}

TEST(ImageVisits, BringOneValueOfAnArgument) {
  ProgramImage image = increments();
  ASSERT_EQ(first_problem(image), "");
  image.first.arguments = {0, 2, 0};
  EXPECT_EQ(first_problem(image),
            "first/arguments[2]: stream 0 takes a second value of position 0: a visit brings one");
  image = increments();
  image.next.arguments = {2, 0, 2};
  EXPECT_EQ(first_problem(image),
            "next/arguments[2]: stream 2 takes a second value of position 0: a visit brings one");
}

TEST(ImageVisits, MayBringOneStreamAgainAtAnother) {
  ProgramImage image = feeds();
  image.visits.push_back({kCode + 8, {{}, {0}}});
  EXPECT_EQ(first_problem(image), "");
}

}  // namespace
}  // namespace superstep
