#include "compiler/program/call_loop.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/op.h"
#include "compiler/program/blocks.h"
#include "compiler/program/outline.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

/// A state that each call adds to, and what it was before.
constexpr const char* kSums =
    "func.func @main(%state: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<6xf32>) -> "
    "(tensor<6xf32>, tensor<6xf32>) {\n"
    "%sum = stablehlo.add %state, %x : tensor<6xf32>\n"
    "%twice = stablehlo.add %state, %state : tensor<6xf32>\n"
    "return %sum, %twice : tensor<6xf32>, tensor<6xf32>\n}";

LoweredProgram called(const Module& module) {
  LoweredProgram program = lower(module, load_machine("tiny4"));
  outline_repeats(program);
  add_call_loop(program);
  return program;
}

HostTensor filled(float value) {
  HostTensor tensor(TensorType{DType::kF32, {6}});
  for (std::size_t i = 0; i < 6; ++i) tensor.set(i, value + static_cast<float>(i));
  return tensor;
}

TEST(CallLoop, TheHostDecidesAfterHowManyCallsAProgramEnds) {
  const Module module = import_stablehlo(kSums, "test.mlir");
  const LoweredProgram program = called(module);
  const std::vector<TensorType> types(2, TensorType{DType::kF32, {6}});
  for (const std::size_t calls : {1U, 2U, 5U}) {
    std::vector<PlanInterpreter::Arguments> arguments(calls);
    arguments[0] = {filled(0), filled(1)};
    for (std::size_t c = 1; c < calls; ++c) {
      arguments[c] = {std::nullopt, filled(static_cast<float>(c + 1))};
    }
    const auto results = PlanInterpreter(program).run_calls(arguments, types);
    ASSERT_EQ(results.size(), calls);
    HostTensor state = filled(0);
    for (std::size_t c = 0; c < calls; ++c) {
      const std::vector<HostTensor> expected =
          evaluate(module.main, std::vector<HostTensor>{state, *arguments[c][1]});
      EXPECT_EQ(results[c][0].data, expected[0].data) << "call " << c << " of " << calls;
      EXPECT_EQ(results[c][1].data, expected[1].data) << "call " << c << " of " << calls;
      state = expected[0];
    }
  }
}

TEST(CallLoop, VisitsToTheHostAreStepsAroundCallsAndBetweenThem) {
  LoweredProgram program = lower(import_stablehlo(kSums, "test.mlir"), load_machine("tiny4"));
  const std::size_t steps = program.main.steps.size();
  add_call_loop(program);
  ASSERT_EQ(program.main.steps.size(), 3U);
  const auto kind = [](const Step& step) { return std::get<HostVisit>(step).kind; };
  EXPECT_EQ(kind(program.main.steps[0]), HostVisit::Kind::kFirst);
  EXPECT_EQ(kind(program.main.steps[2]), HostVisit::Kind::kLast);
  const auto& calls = std::get<Loop>(program.main.steps[1]);
  EXPECT_EQ(calls.condition.steps.size(), steps);
  EXPECT_EQ(&calls.condition, &call_of(program));
  ASSERT_EQ(calls.body.steps.size(), 1U);
  EXPECT_EQ(kind(calls.body.steps[0]), HostVisit::Kind::kNext);
}

TEST(CallLoop, OnlyAnExchangeThatComesFirstSharesTheSyncOfAVisit) {
  LoweredProgram computes = called(import_stablehlo(kSums, "test.mlir"));
  EXPECT_FALSE(superstep_after_visit(computes));
  const LoweredProgram moves = called(import_stablehlo(
      "func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
      "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
      "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
      "return %y : tensor<64x64xf32>\n}",
      "test.mlir"));
  ASSERT_TRUE(superstep_after_visit(moves));
  EXPECT_FALSE(supersteps_of(moves)[*superstep_after_visit(moves)]->movements.empty());
}

TEST(CallLoop, AProgramWithoutDataIsNotCalled) {
  LoweredProgram program;
  add_call_loop(program);
  EXPECT_TRUE(program.main.steps.empty());
  EXPECT_FALSE(program.goes_on);
}

}  // namespace
}  // namespace superstep
