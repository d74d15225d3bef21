#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "compiler/compile.h"
#include "compiler/lower/products/product_plan.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/program/blocks.h"
#include "tests/program/plan_interpreter.h"
#include "tests/program/whole_numbers.h"

namespace superstep {
namespace {

/// The program's results are the reference's; returns the program.
LoweredProgram expect_agrees(const std::string& text, const char* machine) {
  const Module module = import_stablehlo(text, "test.mlir");
  std::vector<TensorType> given, types;
  for (const ValueId argument : module.main.arguments()) {
    given.push_back(module.main.type(argument));
  }
  for (const ValueId result : module.main.results()) types.push_back(module.main.type(result));
  const std::vector<HostTensor> arguments = whole_numbers(given);
  LoweredProgram program = lower(module, load_machine(machine));
  const std::vector<HostTensor> found = PlanInterpreter(program).run(arguments, types);
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  for (std::size_t r = 0; r < types.size(); ++r) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(types[r].elements()); ++i) {
      if (read_float(found[r], i) == read_float(expected[r], i)) continue;
      ADD_FAILURE() << "result " << r << ", element " << i << ": " << read_float(found[r], i)
                    << " in place of " << read_float(expected[r], i);
      return program;
    }
  }
  return program;
}

void expect_amp_product(const std::string& a, const std::string& b, const std::string& result,
                        const std::string& dimensions, const char* machine = "small64") {
  SCOPED_TRACE(a + " " + dimensions + " " + b);
  const std::string text = fmt::format(
      "func.func @main(%a: tensor<{0}>, %b: tensor<{1}>) -> tensor<{2}> {{\n"
      "%c = stablehlo.dot_general %a, %b, {3} : (tensor<{0}>, tensor<{1}>) -> tensor<{2}>\n"
      "return %c : tensor<{2}>\n}}",
      a, b, result, dimensions);
  const LoweredProgram program = expect_agrees(text, machine);
  EXPECT_TRUE(std::ranges::any_of(program.codelets, [](const vertex::Vertex& kind) {
    return std::holds_alternative<vertex::AmpProduct>(kind);
  }));
}

TEST(Products, UseTheAmpHoweverOperandsLie) {
  expect_amp_product("97x160xf32", "160x83xf32", "97x83xf32", "contracting_dims = [1] x [0]");
  expect_amp_product("97x163xf32", "83x163xf32", "97x83xf32", "contracting_dims = [1] x [1]");
  expect_amp_product("160x97xf32", "160x83xf32", "97x83xf32", "contracting_dims = [0] x [0]");
  expect_amp_product("163x97xf32", "83x163xf32", "97x83xf32", "contracting_dims = [0] x [1]");
  expect_amp_product("97x160xf16", "83x160xf16", "97x83xf16", "contracting_dims = [1] x [1]");
  expect_amp_product("97x160xf16", "83x160xf16", "97x83xf32", "contracting_dims = [1] x [1]");
  expect_amp_product("97x163xf32", "163x83xf32", "97x83xf32", "contracting_dims = [1] x [0]");
  expect_amp_product("97x163xf16", "83x163xf16", "97x83xf16", "contracting_dims = [1] x [1]");
  expect_amp_product("97x160xf16", "160x83xf16", "97x83xf32", "contracting_dims = [1] x [0]");
  expect_amp_product("163x97xf16", "163x83xf16", "97x83xf32", "contracting_dims = [0] x [0]");
  expect_amp_product("70x32x19xf16", "70x32x21xf16", "70x19x21xf32",
                     "batching_dims = [0] x [0], contracting_dims = [1] x [1]");
  expect_amp_product("70x33x64xf32", "70x35x64xf32", "70x33x35xf32",
                     "batching_dims = [0] x [0], contracting_dims = [2] x [2]");
}

TEST(Products, TakeTheDepthInStepsWhenTheirOperandsWouldFillRegion0) {
  const MachineConfig tiny = load_machine("tiny4");
  const ProductPlan plan =
      plan_product(tiny, {.sizes = {1, 66, 97, 1000}, .right_depth_inside = false});
  EXPECT_TRUE(plan.on_amp && plan.transposes);
  EXPECT_LT(plan.step_depth, plan.depth);
  expect_amp_product("66x1000xf32", "1000x97xf32", "66x97xf32", "contracting_dims = [1] x [0]",
                     "tiny4");
  expect_amp_product("1003x66xf32", "97x1003xf32", "66x97xf32", "contracting_dims = [0] x [1]",
                     "tiny4");
}

TEST(Products, TakeColumnsInLongRunsWhenBlocksOfInputsWouldNeedTooMuchCode) {
  const MachineConfig tiny = load_machine("tiny4");
  EXPECT_TRUE(plan_product(tiny, {.sizes = {1, 3, 512, 1003}}).arranges);
  EXPECT_TRUE(plan_product(tiny, {.sizes = {1, 2, 1024, 1003}, .input = DType::kF16}).arranges);
  expect_amp_product("3x1003xf32", "512x1003xf32", "3x512xf32", "contracting_dims = [1] x [1]",
                     "tiny4");
  expect_amp_product("2x1003xf16", "1024x1003xf16", "2x1024xf32", "contracting_dims = [1] x [1]",
                     "tiny4");
}

// Operands that somebody else wants too do not lie in the order of the product.
TEST(Products, HaveOneVertexStateForAllSteps) {
  const std::string text =
      "func.func @main(%a: tensor<64x1024xf32>, %b: tensor<96x1024xf32>) -> "
      "(tensor<64x96xf32>, tensor<64x1024xf32>, tensor<96x1024xf32>) {\n"
      "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] :"
      " (tensor<64x1024xf32>, tensor<96x1024xf32>) -> tensor<64x96xf32>\n"
      "return %c, %a, %b : tensor<64x96xf32>, tensor<64x1024xf32>, tensor<96x1024xf32>\n}";
  const Module module = import_stablehlo(text, "test.mlir");
  const MachineConfig tiny = load_machine("tiny4");
  const ProductPlan plan = plan_product(tiny, {.sizes = {1, 64, 96, 1024}});
  ASSERT_EQ(plan.depth % plan.step_depth, 0);
  const LoweredProgram program = lower(module, tiny);
  std::set<VertexState> states;
  std::int64_t launches = 0;
  for (const Superstep* superstep : supersteps_of(program)) {
    for (const ComputeSet& set : superstep->computes) {
      for (const Launch& launch : set.launches) {
        if (launch.tile != TileId{0} || launch.stages.empty()) continue;
        ++launches;
        states.insert(launch.state);
      }
    }
  }
  EXPECT_GT(launches, 1);
  EXPECT_EQ(launches, plan.depth / plan.step_depth);
  EXPECT_EQ(states.size(), 1U);
}

TEST(Products, UseFewTilesWhenTheyAreSmallAndTheAmpWhenTheyAreBig) {
  const MachineConfig bow = load_machine("bow");
  const ProductPlan small = plan_product(bow, {.sizes = {1, 4, 4, 4}});
  EXPECT_FALSE(small.on_amp);
  EXPECT_LE(small.tiles(), 16);
  const ProductPlan layer =
      plan_product(bow, {.sizes = {1, 128, 512, 784}, .right_depth_inside = false});
  EXPECT_TRUE(layer.on_amp && layer.transposes);
  EXPECT_GT(layer.tiles(), 1000);
  EXPECT_LT(layer.cycles, 11000);
  EXPECT_TRUE(plan_product(bow, {.sizes = {1, 4096, 512, 4096}}).on_amp);
  // The result takes 12,288 elements of a tile, 8 bytes for each part of its sums as they come.
  const ProductPlan big = plan_product(bow, {.sizes = {1, 4096, 4096, 4096},
                                             .input = DType::kF16,
                                             .right_depth_inside = false,
                                             .results_per_tile = 12288});
  EXPECT_TRUE(big.on_amp);
  EXPECT_LT(big.depth_splits * 12288 * 8 + big.rows * big.columns * 4,
            std::int64_t{bow.tile.memory_bytes} / 2);
  // Operands of a step leave region 0 to arguments when sums and result fill region 1.
  const ProductPlan tall = plan_product(
      bow,
      {.sizes = {1, 8192, 8192, 1024}, .right_depth_inside = false, .results_per_tile = 49152});
  EXPECT_TRUE(tall.on_amp);
  EXPECT_LE((tall.rows + tall.columns) * tall.step_depth * 4, 80 * 1024);
  for (const std::int64_t size : {1024, 2048, 4096}) {
    for (const bool inside : {false, true}) {
      const ProductPlan plan =
          plan_product(bow, {.sizes = {1, size, size, size}, .right_depth_inside = inside});
      EXPECT_TRUE(plan.on_amp);
    }
  }
}

TEST(Products, TakeABigOperandAsRowsWhereThatIsCheaperThanTheOrderOfTheResult) {
  const MachineConfig small = load_machine("small64");
  const ProductPlan of_result =
      plan_product(small, {.sizes = {1, 8, 512, 512}, .right_depth_inside = false});
  const ProductPlan swapped = plan_product(small, {.sizes = {1, 512, 8, 512},
                                                   .left_depth_inside = false,
                                                   .results_per_tile = 64,
                                                   .result_columns_inside = false});
  ASSERT_TRUE(of_result.transposes);
  ASSERT_LT(swapped.cycles, of_result.cycles);
  const LoweredProgram program = expect_agrees(
      "func.func @main(%x: tensor<8x512xf32>, %w: tensor<512x512xf32>) -> tensor<8x512xf32> {\n"
      "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :"
      " (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>\n"
      "return %y : tensor<8x512xf32>\n}",
      "small64");
  EXPECT_TRUE(std::ranges::none_of(program.codelets, [](const vertex::Vertex& kind) {
    return std::holds_alternative<vertex::AmpTranspose>(kind);
  }));
}

/// A layer and the gradient of its weights: activations of `batch` by `inputs`.
LoweredProgram lower_layer(int batch, int inputs, int outputs, const char* machine) {
  return expect_agrees(
      fmt::format(
          "func.func @main(%x: tensor<{0}x{1}xf32>, %w: tensor<{1}x{2}xf32>, %d: "
          "tensor<{0}x{2}xf32>) -> (tensor<{0}x{2}xf32>, tensor<{1}x{2}xf32>) {{\n"
          "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{0}x{1}xf32>, "
          "tensor<{1}x{2}xf32>) -> tensor<{0}x{2}xf32>\n"
          "%g = stablehlo.dot_general %d, %x, contracting_dims = [0] x [0] : (tensor<{0}x{2}xf32>, "
          "tensor<{0}x{1}xf32>) -> tensor<{2}x{1}xf32>\n"
          "%t = stablehlo.transpose %g, dims = [1, 0] : (tensor<{2}x{1}xf32>) -> "
          "tensor<{1}x{2}xf32>\n"
          "return %y, %t : tensor<{0}x{2}xf32>, tensor<{1}x{2}xf32>\n}}",
          batch, inputs, outputs),
      machine);
}

bool has_compute(const LoweredProgram& program, std::string_view end_of_name) {
  return std::ranges::any_of(supersteps_of(program), [&](const Superstep* step) {
    return std::ranges::any_of(
        step->computes, [&](const ComputeSet& set) { return set.name.ends_with(end_of_name); });
  });
}

TEST(Products, StoreAnArgumentThatIsTheirsAloneAsTheyTakeIt) {
  for (const std::string_view dtype : {"f32", "f16"}) {
    for (const int rows : {3, 48, 100}) {
      const LoweredProgram program = expect_agrees(
          fmt::format("func.func @main(%a: tensor<{0}x96x{1}>, %b: tensor<96x52x{1}>) -> "
                      "tensor<{0}x52x{1}> {{\n"
                      "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
                      "(tensor<{0}x96x{1}>, tensor<96x52x{1}>) -> tensor<{0}x52x{1}>\n"
                      "return %c : tensor<{0}x52x{1}>\n}}",
                      rows, dtype),
          "small64");
      EXPECT_FALSE(has_compute(program, ".transpose"));
      EXPECT_FALSE(has_compute(program, ".arrange"));
      for (const std::optional<BufferId>& argument : program.arguments) {
        const Layout& layout = *program.buffers[index(*argument)].layout;
        EXPECT_FALSE(layout.is_row_major());
        for (const Interval& interval : layout.intervals()) EXPECT_EQ(interval.tiles.size(), 1u);
      }
    }
  }
}

TEST(Products, OfUnequalPartsOfABatchStayInBlocks) {
  // Seven batches on four tiles, and a depth that is worth splitting for one.
  expect_amp_product("7x8x16xf32", "7x16x16xf32", "7x8x16xf32",
                     "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "tiny4");
  expect_amp_product("3x8x512xf32", "3x512x16xf32", "3x8x16xf32",
                     "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "tiny4");
  expect_amp_product("67x8x512xf16", "67x512x24xf16", "67x8x24xf16",
                     "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "small64");
}

TEST(Products, OfManyPartsAddRunsOfThemFirst) {
  // What is added to the result keeps it from staying in blocks.
  const LoweredProgram program = expect_agrees(
      "func.func @main(%a: tensor<6000x8xf32>, %b: tensor<6000x8xf32>, %c: tensor<8x8xf32>) -> "
      "tensor<8x8xf32> {\n"
      "%d = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<6000x8xf32>, "
      "tensor<6000x8xf32>) -> tensor<8x8xf32>\n"
      "%e = stablehlo.add %d, %c : tensor<8x8xf32>\n"
      "return %e : tensor<8x8xf32>\n}",
      "small64");
  EXPECT_TRUE(std::ranges::any_of(
      program.buffers, [](const Buffer& buffer) { return buffer.name.ends_with(".sums"); }));
  const ProductPlan plan = plan_product(
      load_machine("bow"),
      {.sizes = {1, 9, 8, 25088}, .right_depth_inside = false, .results_per_tile = 16});
  EXPECT_GT(plan.sums.runs, 1);
  // Each stage receives far less than all parts of 16 results.
  EXPECT_LT(std::max(plan.sums.width * plan.sums.parts, 16 * plan.sums.runs),
            plan.depth_splits * 16 / 4);
}

TEST(Products, TakeATransposedArgumentAsOtherStrides) {
  const LoweredProgram program = expect_agrees(
      "func.func @main(%a: tensor<40x64xf16>, %b: tensor<40x64xf16>) -> tensor<40x40xf16> {\n"
      "%t = stablehlo.transpose %b, dims = [1, 0] : (tensor<40x64xf16>) -> tensor<64x40xf16>\n"
      "%c = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<40x64xf16>, "
      "tensor<64x40xf16>) -> tensor<40x40xf16>\n"
      "return %c : tensor<40x40xf16>\n}",
      "small64");
  EXPECT_FALSE(has_compute(program, ".arrange"));
}

TEST(Products, LookAtEachOpThatFollowsThemOnce) {
  std::string text =
      "func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
      "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
      "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n";
  constexpr int kOps = 64;  // with 2^64 ways to the last one
  for (int i = 0; i < kOps; ++i) {
    text += fmt::format("%{} = stablehlo.maximum %{}, %{} : tensor<8x8xf32>\n", i + 1, i, i);
  }
  expect_agrees(text + fmt::format("return %{} : tensor<8x8xf32>\n}}", kOps), "small64");
}

TEST(Products, OfProductsWithoutElementsAreNotPlanned) {
  const LoweredProgram program = expect_agrees(
      "func.func @main(%a: tensor<0x4xf32>, %b: tensor<4x3xf32>) -> (tensor<0x4xf32>, "
      "tensor<4x4xf32>) {\n"
      "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<0x4xf32>, "
      "tensor<4x3xf32>) -> tensor<0x3xf32>\n"
      "%d = stablehlo.dot_general %c, %b, contracting_dims = [1] x [1] : (tensor<0x3xf32>, "
      "tensor<4x3xf32>) -> tensor<0x4xf32>\n"
      "%e = stablehlo.dot_general %b, %b, contracting_dims = [1] x [1] : (tensor<4x3xf32>, "
      "tensor<4x3xf32>) -> tensor<4x4xf32>\n"
      "return %d, %e : tensor<0x4xf32>, tensor<4x4xf32>\n}",
      "tiny4");
  EXPECT_EQ(program.products.size(), 1u);
}

TEST(Results, ThatAreTransposedMoveNothing) {
  const LoweredProgram program = expect_agrees(
      "func.func @main(%a: tensor<40x70xf16>) -> tensor<70x40xf16> {\n"
      "%t = stablehlo.transpose %a, dims = [1, 0] : (tensor<40x70xf16>) -> tensor<70x40xf16>\n"
      "return %t : tensor<70x40xf16>\n}",
      "small64");
  for (const Superstep* step : supersteps_of(program)) EXPECT_TRUE(step->movements.empty());
}

std::ptrdiff_t buffers_of_rows(const LoweredProgram& program) {
  return std::ranges::count_if(program.buffers,
                               [](const Buffer& b) { return b.name.ends_with(".rows"); });
}

TEST(Products, TakeTheRowsOfAnEarlierProductWhereTheyLie) {
  EXPECT_EQ(buffers_of_rows(lower_layer(64, 104, 48, "small64")), 1);
  EXPECT_EQ(buffers_of_rows(lower_layer(32, 40, 77, "tiny4")), 1);
  // Rows or depth that would be padded in one of the two.
  EXPECT_EQ(buffers_of_rows(lower_layer(30, 40, 77, "tiny4")), 2);
  EXPECT_EQ(buffers_of_rows(lower_layer(32, 39, 77, "tiny4")), 2);
}

TEST(Products, ArePlannedWithTheOneThatFollows) {
  const MachineConfig bow = load_machine("bow");
  const ProductProblem forward{.sizes = {1, 128, 512, 784}, .right_depth_inside = false};
  const ProductProblem gradient{.sizes = {1, 784, 512, 128},
                                .left_depth_inside = false,
                                .right_depth_inside = false,
                                .results_per_tile = 276};
  const ProductPlan alone = plan_product(bow, forward),
                    first = plan_product(bow, forward, &gradient);
  const std::optional<ProductPlan> second = plan_following(bow, gradient, forward, first);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows, first.depth);
  EXPECT_EQ(second->depth, first.rows);
  EXPECT_LT(first.cycles + second->cycles, alone.cycles + plan_product(bow, gradient).cycles);
}

}  // namespace
}  // namespace superstep
