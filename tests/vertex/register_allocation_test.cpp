#include "compiler/vertex/register_allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/graph/sequential_vertex_coloring.hpp>
#include <random>
#include <set>
#include <vector>

#include "compiler/vertex/control_flow.h"
#include "compiler/vertex/worker_code.h"
#include "tests/gc200.h"

namespace superstep::vertex {
namespace {

using Item = WorkerCode::Item;
using Interference = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

bool interfere(const Interval& x, const Interval& y) {
  return x.first <= y.last && y.first <= x.last;
}

Interference interference(const std::vector<Interval>& intervals) {
  Interference graph(intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (interfere(intervals[i], intervals[j])) add_edge(i, j, graph);
    }
  }
  return graph;
}

std::vector<Interval> random_intervals(std::mt19937& random, std::size_t count,
                                       const std::vector<File>& files) {
  std::vector<Interval> intervals;
  for (std::uint32_t id = 0; id < count; ++id) {
    const auto first = static_cast<std::uint32_t>(random() % 60);
    const auto length = static_cast<std::uint32_t>(random() % 30);
    intervals.push_back({{id, files[random() % files.size()]}, first, first + length, false, 1});
  }
  std::ranges::stable_sort(intervals, {}, &Interval::first);
  return intervals;
}

/// The machine registers of an interval; those of the two files differ.
std::set<int> registers_of(const Interval& interval, const Assignment& assignment) {
  const std::int32_t machine = assignment.machine[interval.reg.id];
  if (machine < 0) return {};
  if (interval.reg.file == File::kM) return {machine};
  constexpr int kBehindM = 100;
  if (interval.reg.file == File::kA) return {kBehindM + machine};
  return {kBehindM + machine, kBehindM + machine + 1};
}

TEST(LinearScan, FindsRegistersExactlyWhereAColouringOfTheInterferenceGraphDoes) {
  std::mt19937 random(7);
  int fits = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    const auto count = 20 + random() % 30;
    const std::vector<Interval> intervals = random_intervals(random, count, {File::kM});
    const Interference graph = interference(intervals);
    // In order of beginnings greedy colouring of intervals is optimal.
    std::vector<std::size_t> colours(count);
    const std::size_t needed = boost::sequential_vertex_coloring(
        graph, boost::make_iterator_property_map(colours.begin(), get(boost::vertex_index, graph)));
    const bool ok = linear_scan(intervals, count, kMRegisters, Spill::kNothing).ok;
    EXPECT_EQ(ok, needed <= static_cast<std::size_t>(kMRegisters)) << "round " << round;
    fits += ok;
  }
  EXPECT_GT(fits, kRounds / 4);
  EXPECT_LT(fits, kRounds * 3 / 4);
}

TEST(WorkerCode, StoresWhatIsMovedToTheStackFromWhereItIs) {
  constexpr std::int64_t kCopies = 21;
  WorkerCode code(gc200());
  const Reg x = code.m("ld32", {"$mvertex_base", "$mzero", 0});
  std::vector<Reg> copies;
  for (std::int64_t i = 0; i < kCopies; ++i) {
    copies.push_back(code.fresh(File::kM));
    code.emit("mov", {def(copies.back()), x});
  }
  for (std::int64_t i = 0; i < kCopies; ++i)
    code.emit("st32", {copies[static_cast<std::size_t>(i)], "$mvertex_base", "$mzero", i});
  code.exit();
  const Codelet codelet = code.finish("copies");
  // Two words are for moves between register files, the others for copies: each is loaded again.
  const std::size_t on_stack = codelet.stack_bytes / 4 - 2;
  EXPECT_GT(on_stack, 0U);
  EXPECT_EQ(codelet.words.size(), 2 + 2 * kCopies + on_stack);
}

TEST(LinearScan, SharesNoRegisterBetweenValuesThatInterfere) {
  std::mt19937 random(8);
  int spilling = 0, spilling_pairs = 0;
  for (int round = 0; round < 400; ++round) {
    const auto count = 20 + random() % 40;
    const std::vector<Interval> intervals =
        random_intervals(random, count, {File::kM, File::kA, File::kPair});
    Assignment assignment = linear_scan(intervals, count, kMRegisters, Spill::kWords);
    if (!assignment.ok) {
      assignment = linear_scan(intervals, count, kMRegisters, Spill::kWordsAndPairs);
      ++spilling_pairs;
    }
    ASSERT_TRUE(assignment.ok) << "round " << round;
    const Interference graph = interference(intervals);
    for (auto [edge, end] = edges(graph); edge != end; ++edge) {
      const Interval &x = intervals[source(*edge, graph)], &y = intervals[target(*edge, graph)];
      for (const int of_x : registers_of(x, assignment)) {
        EXPECT_FALSE(registers_of(y, assignment).contains(of_x)) << "round " << round;
      }
    }
    for (const Interval& interval : intervals) {
      EXPECT_NE(assignment.machine[interval.reg.id] < 0, assignment.slot[interval.reg.id] < 0);
      if (interval.reg.file != File::kPair || assignment.slot[interval.reg.id] < 0) continue;
      EXPECT_EQ(assignment.slot[interval.reg.id] % 2, 0) << "round " << round;
    }
    spilling += assignment.slots > 0;
  }
  EXPECT_GT(spilling, 50);
  EXPECT_GT(spilling_pairs, 50);
}

Item code(Instruction instruction) { return {Item::Kind::kCode, {std::move(instruction)}}; }
Item place(std::uint32_t label) { return {Item::Kind::kLabel, {}, label}; }

/// Two nested loops with a branch out of the inner one, and code that nothing reaches.
class NestedLoops : public ::testing::Test {
 protected:
  Reg sum_{0, File::kM}, outer_{1, File::kM}, inner_{2, File::kM};
  std::vector<Item> items_ = {
      code({"setzi", {def(sum_), 0}}),  // block 0
      code({"setzi", {def(outer_), 3}}),
      place(0),  // 1: head of the outer loop
      code({"setzi", {def(inner_), 5}}),
      place(1),  // 2: head of the inner one
      code({"add", {def(sum_), sum_, inner_}}),
      code({"brz", {sum_, Label{2}}}),
      code({"brnzdec", {both(inner_), Label{1}}}),  // 3
      code({"brnzdec", {both(outer_), Label{0}}}),  // 4
      place(2),                                     // 5
      code({"exitz", {sum_}}),
      code({"add", {def(sum_), sum_, sum_}}),  // 6: after the end
  };
  ControlFlow flow_ = control_flow(items_, 3);
};

TEST_F(NestedLoops, AreNaturalLoopsOfTheirHeads) {
  ASSERT_EQ(num_vertices(flow_), 7U);
  EXPECT_EQ(loop_depths(flow_), (std::vector<std::uint32_t>{0, 1, 2, 2, 1, 0, 0}));
}

TEST_F(NestedLoops, KeepWhatALaterTurnReads) {
  const std::vector<LiveRegisters> live = live_registers(flow_, items_, 3);
  const std::vector<bool> kSum{true, false, false}, kLoops{true, true, false};
  EXPECT_EQ(live[0].out, kLoops);
  EXPECT_EQ(live[2].in, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(live[3].out, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(live[4].in, kLoops);
  EXPECT_EQ(live[5].in, kSum);
  EXPECT_EQ(live[5].out, (std::vector<bool>{false, false, false}));
  const std::vector<Interval> intervals = live_intervals(items_, 3, 3);
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_EQ(intervals[2].reg.id, inner_.id);
  EXPECT_EQ(intervals[2].uses, 10 + 2 * 100);  // set in the outer loop, read twice in the inner one
}

TEST(ControlFlow, LeavesARepeatThatTakesNoTurn) {
  const Reg x{0, File::kM};
  const std::vector<Item> items = {
      {Item::Kind::kRepeat, {Instruction("rpt", {x, 0})}},
      code({"add", {def(x), x, 1}}),
      {Item::Kind::kEndRepeat, {}},
      code({"exitz", {x}}),
  };
  const ControlFlow flow = control_flow(items, 0);
  ASSERT_EQ(num_vertices(flow), 3U);
  EXPECT_TRUE(edge(0, 2, flow).second);
  EXPECT_TRUE(edge(1, 1, flow).second);
  EXPECT_EQ(loop_depths(flow), (std::vector<std::uint32_t>{0, 1, 0}));
}

}  // namespace
}  // namespace superstep::vertex
