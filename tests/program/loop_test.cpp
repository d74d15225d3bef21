#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "compiler/program/builder.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/program/whole_numbers.h"

namespace superstep {
namespace {

/// Runs a module of whole numbers and compares with its evaluation.
void expect_as_evaluated(const std::string& text, const std::vector<std::string>& settings) {
  const Module module = import_stablehlo(text, "loop.mlir");
  const ProgramImage image = compile(module, load_machine("tiny4", settings));
  const std::vector<HostTensor> arguments = whole_numbers(image.arguments);
  const RunResult run = run_image(image, arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  for (std::size_t r = 0; r < expected.size(); ++r) {
    EXPECT_EQ(run.results.at(r).data, expected[r].data) << "result " << r;
  }
}

TEST(Loop, KeepsThePassesOfAnInvariantOperandApart) {
  // The left operand does not change, and is arranged pass by pass in one buffer.
  expect_as_evaluated(R"(
func.func @main(%a: tensor<1024x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %w = %b) : tensor<i32>, tensor<64x64xf32>
  cond {
    %n = stablehlo.constant dense<2> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<1024x64xf32>, tensor<64x64xf32>) -> tensor<1024x64xf32>
    %s = stablehlo.slice %y [960:1024, 0:64] : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %t = stablehlo.slice %y [0:64, 0:64] : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %v = stablehlo.add %s, %t : tensor<64x64xf32>
    stablehlo.return %j, %v : tensor<i32>, tensor<64x64xf32>
  }
  return %0#1 : tensor<64x64xf32>
}
)",
                      {});
}

// Every tile has a copy of what counts trips, and so of what is combined with it.
TEST(Loop, CountsForAReductionOfOneElement) {
  expect_as_evaluated(R"(
func.func @main(%n: tensor<i32>, %first: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %c) : tensor<i32>
  cond {
    %most = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.maximum %one, %n : tensor<i32>
    %j = stablehlo.add %i, %m : tensor<i32>
    stablehlo.return %j : tensor<i32>
  }
  %r = stablehlo.reduce(%0 init: %first) across dimensions = [] : (tensor<i32>, tensor<i32>) -> tensor<i32>
      reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %s = stablehlo.add %a, %b : tensor<i32>
    %t = stablehlo.multiply %a, %b : tensor<i32>
    %u = stablehlo.add %s, %t : tensor<i32>
    stablehlo.return %u : tensor<i32>
  }
  return %r : tensor<i32>
}
)",
                      {});
}

TEST(Loop, KeepsSetsOfOneRoundThatWriteAgainWhatAnotherReads) {
  const MachineConfig machine = load_machine("tiny4");
  ProgramBuilder outer(machine), body(&outer);
  const auto buffer = [&](const char* name) {
    const TensorType type{DType::kF32, {64}};
    Buffer buffer;
    buffer.name = name;
    buffer.type = type;
    buffer.layout = body.layouts().of(type);
    return body.add_buffer(std::move(buffer));
  };
  const BufferId constant = buffer("constant"), shared = buffer("shared");
  const BufferId changing = buffer("changing"), one = buffer("one"), two = buffer("two");
  // Sets of a round run in the order in which they are added.
  const auto add = [&](std::vector<BufferId> reads, BufferId write) {
    ComputeSet set;
    set.reads = std::move(reads);
    set.writes = {write};
    set.launches.emplace_back().tile = TileId{0};
    body.add_compute({0, 0}, std::move(set));
  };
  add({constant}, shared);
  add({shared, changing}, one);
  add({constant}, shared);
  add({shared, changing}, two);
  EXPECT_EQ(body.hoist_invariants(outer, 0, {changing}), 0U);
  EXPECT_EQ(outer.end(), Time{});
}

TEST(Loop, CarriesAScalarInItsPlaceOnAMachineOfOneTile) {
  // Worker 0 stores the sum where all workers might load an operand.
  expect_as_evaluated(R"(
func.func @main(%n: tensor<i32>, %b: tensor<f32>, %c: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %s = %b, %d = %c) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %m = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %x = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %u = stablehlo.add %s, %x : tensor<f32>
    %v = stablehlo.add %u, %d : tensor<f32>
    stablehlo.return %j, %v, %d : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
)",
                      {"grid.tiles=1"});
}

}  // namespace
}  // namespace superstep
