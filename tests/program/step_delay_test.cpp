#include "compiler/program/step_delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/program/buffer_ids.h"

namespace superstep {
namespace {

using Kind = TimedStep::Kind;

constexpr std::uint32_t kPhase = 50;

TimedStep compute(std::uint32_t superstep, std::uint32_t tile, std::uint32_t cycles,
                  StepUses uses) {
  return {Kind::kCompute, superstep, std::move(uses), {{TileId{tile}, cycles, 0}}};
}

TimedStep exchange(std::uint32_t superstep, std::uint32_t from, std::uint32_t to,
                   std::uint32_t cycles, StepUses uses) {
  return {Kind::kExchange,
          superstep,
          std::move(uses),
          {{TileId{from}, cycles, 0}, {TileId{to}, 0, cycles}}};
}

// Tile 0 makes buffer 1, which nobody reads, while tile 1 goes on.
std::vector<TimedStep> beside(std::uint32_t first, std::uint32_t second) {
  return {compute(0, 0, 100, {{B(0)}, {B(1)}}), compute(0, 1, first, {{B(0)}, {B(2)}}),
          exchange(1, 1, 2, 8, {{B(2)}, {B(3)}}), compute(1, 2, second, {{B(3)}, {B(4)}})};
}

TEST(StepDelay, AStepWaitsForTheSuperstepInWhichOthersTakeLonger) {
  EXPECT_EQ(delay_steps(beside(10, 200), 5, 3, kPhase), (std::vector<std::uint32_t>{1, 0, 1, 1}));
}

TEST(StepDelay, AStepStaysWhereItCostsNoMore) {
  EXPECT_EQ(delay_steps(beside(100, 200), 5, 3, kPhase), (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(delay_steps(beside(10, 10), 5, 3, kPhase), (std::vector<std::uint32_t>{0, 0, 1, 1}));
}

// What makes buffer 1 and what moves it wait for what needs it.
TEST(StepDelay, AChainWaitsWithItsLastStep) {
  const std::vector<TimedStep> steps = {
      compute(0, 0, 100, {{B(0)}, {B(1)}}),   exchange(1, 0, 3, 8, {{B(1)}, {B(2)}}),
      exchange(1, 1, 2, 8, {{B(0)}, {B(3)}}), compute(1, 3, 100, {{B(2)}, {B(4)}}),
      compute(1, 2, 200, {{B(3)}, {B(5)}}),   exchange(2, 2, 1, 8, {{B(5)}, {B(6)}}),
      compute(2, 1, 200, {{B(6)}, {B(7)}}),
  };
  EXPECT_EQ(delay_steps(steps, 8, 4, kPhase), (std::vector<std::uint32_t>{1, 2, 1, 2, 1, 2, 2}));
}

TEST(StepDelay, NoStepGoesPastAControlStep) {
  std::vector<TimedStep> steps = beside(10, 200);
  steps.insert(steps.begin() + 2, {Kind::kControl, 1, {}, {}});
  EXPECT_EQ(delay_steps(steps, 5, 3, kPhase), (std::vector<std::uint32_t>{0, 0, 1, 1, 1}));
}

/// Cycles of all supersteps.
std::uint64_t cycles(const std::vector<TimedStep>& steps, const std::vector<std::uint32_t>& at) {
  using Sums = std::map<std::pair<std::uint32_t, TileId>, std::uint64_t>;
  Sums computed, sent, received;
  std::map<std::uint32_t, bool> moves;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const TimedStep::Load& load : steps[s].loads) {
      (steps[s].kind == Kind::kCompute ? computed : sent)[{at[s], load.tile}] += load.work;
      received[{at[s], load.tile}] += load.received;
    }
    if (steps[s].kind == Kind::kExchange) moves[at[s]] = true;
  }
  const auto most = [](const Sums& sums, std::uint32_t superstep) {
    std::uint64_t most = 0;
    for (const auto& [place, sum] : sums) {
      if (place.first == superstep) most = std::max(most, sum);
    }
    return most;
  };
  std::uint64_t all = 0;
  for (std::uint32_t s = 0; s <= *std::ranges::max_element(at); ++s) {
    all += most(computed, s) + std::max(most(sent, s), most(received, s));
    if (moves[s]) all += kPhase;
  }
  return all;
}

TEST(StepDelay, KeepsEveryDependenceAndTakesNoLonger) {
  std::mt19937 random(5);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto meet = [](const std::set<BufferId>& a, const std::set<BufferId>& b) {
    return std::ranges::any_of(a, [&](BufferId id) { return b.contains(id); });
  };
  const auto depends = [&](const TimedStep& a, const TimedStep& b) {
    return meet(a.uses.writes, b.uses.reads) || meet(a.uses.writes, b.uses.writes) ||
           meet(a.uses.reads, b.uses.writes);
  };
  int faster = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<TimedStep> steps;
    std::uint32_t superstep = 0;
    bool computes = false;
    for (std::uint32_t i = 2 + below(20); i > 0; --i) {
      StepUses uses{{B(below(12))}, {B(below(12))}};
      const std::uint32_t kind = below(8);
      // Steps of a superstep: control, what moves at once, compute sets.
      if (computes && kind < 4) {
        ++superstep;
        computes = false;
      }
      if (kind == 0) {
        if (!steps.empty() && steps.back().superstep == superstep) ++superstep;
        steps.push_back({Kind::kControl, superstep, std::move(uses), {}});
      } else if (kind < 4) {
        TimedStep step = exchange(superstep, below(4), 4 + below(4), 1 + below(50), uses);
        const auto conflicts = [&](const TimedStep& other) {
          return other.superstep == superstep && other.kind == Kind::kExchange &&
                 depends(other, step);
        };
        if (std::ranges::any_of(steps, conflicts)) step.superstep = ++superstep;
        steps.push_back(std::move(step));
      } else {
        steps.push_back(compute(superstep, below(8), 1 + below(300), uses));
        computes = true;
      }
    }
    std::vector<std::uint32_t> before;
    for (const TimedStep& step : steps) before.push_back(step.superstep);
    const std::vector<std::uint32_t> at = delay_steps(steps, 12, 8, kPhase);
    ASSERT_EQ(at.size(), steps.size());
    EXPECT_LE(cycles(steps, at), cycles(steps, before)) << "round " << round;
    if (cycles(steps, at) < cycles(steps, before)) ++faster;
    for (std::size_t later = 0; later < steps.size(); ++later) {
      ASSERT_GE(at[later], before[later]) << "round " << round;
      if (steps[later].kind == Kind::kControl) {
        ASSERT_EQ(at[later], before[later]) << "round " << round;
      }
      for (std::size_t s = 0; s < later; ++s) {
        const bool is_control = steps[later].kind == Kind::kControl;
        if (!is_control && !depends(steps[s], steps[later])) continue;
        const bool may_share = steps[later].kind == Kind::kCompute ||
                               (steps[s].kind != Kind::kCompute && before[s] == before[later]);
        ASSERT_TRUE(may_share ? at[s] <= at[later] : at[s] < at[later]) << "round " << round;
      }
    }
  }
  EXPECT_GT(faster, 50);
}

}  // namespace
}  // namespace superstep
