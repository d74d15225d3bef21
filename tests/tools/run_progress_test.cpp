#include "tools/run_progress.h"

#include <gtest/gtest.h>

#include "tools/progress.h"

namespace superstep {
namespace {

using std::chrono::seconds;

RunProgress half_done() {
  RunProgress progress{.clock_hz = 1'000'000'000, .call = 1, .calls = 1200, .quiet = seconds(3)};
  progress.totals.supersteps = 1234;
  progress.totals.compute = Cycles(750);
  progress.totals.exchange = Cycles(250);
  progress.operation = "dot_general.3 of train.py:12";
  return progress;
}

TEST(RunProgress, SaysCallSuperstepsAndParts) {
  const std::string text = text_of(half_done());
  EXPECT_TRUE(text.starts_with("call 2 of 1,200, 1,234 supersteps, 1,000 device cycles (")) << text;
  EXPECT_TRUE(text.ends_with("): compute 75 %, exchange 25 %, sync 0 %")) << text;
}

TEST(RunProgress, SaysSinceWhenThereIsNothingNewAndBehindWhat) {
  RunProgress progress = half_done();
  progress.quiet = seconds(1500);
  const std::string text = text_of(progress);
  EXPECT_TRUE(
      text.ends_with("; no more of them for 1,500 s, the last of dot_general.3 of train.py:12"))
      << text;
}

TEST(RunProgress, HasNoTimeWhereTheClockIsNotKnown) {
  RunProgress progress = half_done();
  progress.clock_hz = 0;
  const std::string text = text_of(progress);
  EXPECT_NE(text.find("1,000 device cycles: compute 75 %"), std::string::npos) << text;
}

TEST(RunProgress, CountsNoCallBehindTheLast) {
  RunProgress progress = half_done();
  progress.call = progress.calls;
  EXPECT_TRUE(text_of(progress).starts_with("call 1,200 of 1,200,")) << text_of(progress);
}

TEST(Progress, AnInterruptedStageHasItsAdvice) {
  Progress progress(true);
  progress.stage("write the trace", "`superstep trace repair` makes one");
  EXPECT_EQ(current_stage(), "write the trace; `superstep trace repair` makes one");
  progress.stage("simulate");
  EXPECT_EQ(current_stage(), "simulate");
}

}  // namespace
}  // namespace superstep
