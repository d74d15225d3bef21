#include "compiler/program/step_order.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/op.h"
#include "compiler/program/blocks.h"
#include "isa/machine_config.h"
#include "tests/program/buffer_ids.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

Buffer temporary(std::int64_t words) {
  Buffer buffer;
  buffer.layout = std::make_shared<const Layout>(std::vector<Interval>{{0, words, {TileId{0}}}});
  return buffer;
}

// Each branch makes 100 words of the input and reduces them to 2; the sums are added.
TEST(StepOrder, FinishesABranchBeforeItBeginsTheNext) {
  std::vector<Buffer> buffers = {temporary(2)};
  std::vector<StepUses> steps;
  std::set<BufferId> sums;
  for (std::uint32_t branch = 0; branch < 5; ++branch) {
    buffers.push_back(temporary(100));
    steps.push_back({{B(0)}, {B(1 + 2 * branch)}});
    buffers.push_back(temporary(2));
  }
  for (std::uint32_t branch = 0; branch < 5; ++branch) {
    steps.push_back({{B(1 + 2 * branch)}, {B(2 + 2 * branch)}});
    sums.insert(B(2 + 2 * branch));
  }
  buffers.push_back(temporary(2));
  steps.push_back({sums, {B(11)}});
  EXPECT_EQ(live_bytes(buffers, steps), 4U * (2 + 5 * 100));
  const std::vector<std::size_t> order = order_for_memory(buffers, steps);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 5, 1, 6, 2, 7, 3, 8, 4, 9, 10}));
}

TEST(StepOrder, KeepsEveryDependence) {
  std::mt19937 random(3);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 100; ++round) {
    std::vector<Buffer> buffers;
    for (int b = 0; b < 8; ++b) buffers.push_back(temporary(2 + 2 * below(50)));
    std::vector<StepUses> steps(1 + below(12));
    for (StepUses& step : steps) {
      for (std::uint32_t i = below(3); i > 0; --i) step.reads.insert(B(below(8)));
      step.writes.insert(B(below(8)));
    }
    const std::vector<std::size_t> order = order_for_memory(buffers, steps);
    ASSERT_EQ(order.size(), steps.size());
    std::vector<std::size_t> at(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) at[order[i]] = i;
    const auto meet = [](const std::set<BufferId>& a, const std::set<BufferId>& b) {
      return std::ranges::any_of(a, [&](BufferId id) { return b.contains(id); });
    };
    std::vector<StepUses> ordered;
    for (const std::size_t s : order) ordered.push_back(steps[s]);
    EXPECT_LE(live_bytes(buffers, ordered), live_bytes(buffers, steps));
    for (std::size_t later = 0; later < steps.size(); ++later) {
      for (std::size_t s = 0; s < later; ++s) {
        const bool depends = meet(steps[s].writes, steps[later].reads) ||
                             meet(steps[s].writes, steps[later].writes) ||
                             meet(steps[s].reads, steps[later].writes);
        ASSERT_TRUE(!depends || at[s] < at[later]) << "round " << round;
      }
    }
  }
}

/// A sum of rows that each come of a matrix, the product of an argument with itself shifted.
std::string branches(int count) {
  const std::string matrix = "tensor<48x48xf32>", row = "tensor<48xf32>";
  std::string text = "func.func @main(%x: tensor<96x48xf32>) -> " + row +
                     " {\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n";
  std::string sum;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "  %k" + n + " = stablehlo.slice %x [" + n + ":" + std::to_string(i + 48) +
            ", 0:48] : (tensor<96x48xf32>) -> " + matrix + "\n";
    text += "  %p" + n + " = stablehlo.dot_general %k" + n + ", %k" + n +
            ", contracting_dims = [1] x [0] : (" + matrix + ", " + matrix + ") -> " + matrix + "\n";
    text += "  %r" + n + " = stablehlo.reduce(%p" + n + " init: %zero) applies stablehlo.add " +
            "across dimensions = [0] : (" + matrix + ", tensor<f32>) -> " + row + "\n";
    if (i > 0) text += "  %s" + n + " = stablehlo.add " + sum + ", %r" + n + " : " + row + "\n";
    sum = (i > 0 ? "%s" : "%r") + n;
  }
  return text + "  return " + sum + " : " + row + "\n}";
}

TEST(StepOrder, GivesTheSameResultsInLessMemory) {
  const Module module = import_stablehlo(branches(12), "test.mlir");
  const MachineConfig machine = load_machine("tiny4");
  const auto most = [](const LoweredProgram& program) {
    std::vector<StepUses> steps;
    for (const Superstep* superstep : supersteps_of(program)) {
      StepUses& moves = steps.emplace_back();
      for (const Movement& movement : superstep->movements) {
        moves.reads.insert(movement.source.buffer);
        for (const Movement::End& end : movement.destinations) moves.writes.insert(end.buffer);
      }
      for (const ComputeSet& set : superstep->computes) {
        steps.push_back(
            {{set.reads.begin(), set.reads.end()}, {set.writes.begin(), set.writes.end()}});
      }
    }
    return live_bytes(program.buffers, steps);
  };
  HostTensor x(module.main.type(module.main.arguments()[0]));
  for (std::size_t i = 0; i < 96 * 48; ++i) x.set<float>(i, static_cast<float>(i % 7) - 3);
  const std::vector<HostTensor> expected = evaluate(module.main, std::vector{x});
  const LoweredProgram early = lower(module, machine);
  const LoweredProgram less = lower(module, machine, {}, {}, StepOrder::kLeastMemory);
  EXPECT_LT(2 * most(less), most(early));
  for (const LoweredProgram* program : {&early, &less}) {
    const std::vector<HostTensor> found =
        PlanInterpreter(*program).run(std::vector{x}, std::vector{expected[0].type});
    EXPECT_EQ(found[0].data, expected[0].data);
  }
}

}  // namespace
}  // namespace superstep
