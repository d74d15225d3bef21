#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "compiler/program/blocks.h"
#include "tests/program/plan_check.h"

namespace superstep {
namespace {

std::string source_of(const std::string& name) {
  return read_text_file(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models" / name);
}

class Lowering : public ::testing::TestWithParam<std::pair<int, int>> {
 protected:
  MachineConfig machine() const {
    return grid_machine(static_cast<std::uint32_t>(GetParam().first),
                        static_cast<std::uint32_t>(GetParam().second));
  }
  void check(const std::string& arguments, const std::string& result, const std::string& body) {
    expect_plan_computes(
        "func.func @main(" + arguments + ") -> (" + result + ") {\n" + body + "\n}", machine());
  }
};

TEST_P(Lowering, FusesElementwiseTreesWithScalars) {
  check("%a: tensor<70xf32>, %s: tensor<f32>", "tensor<70xf32>",
        R"(%b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<70xf32>
           %c = stablehlo.multiply %a, %b : tensor<70xf32>
           %d = stablehlo.add %c, %a : tensor<70xf32>
           return %d : tensor<70xf32>)");
}

// The rectified values are kept for the product, so the mask of their gradient is not.
TEST_P(Lowering, MasksAreComputedWhereTheyAreUsed) {
  const std::string type = "tensor<12x16xf32>", of_two = " : (" + type + ", " + type + ")";
  for (const std::string& mask :
       {"compare GT, %a, %zero, FLOAT" + of_two, "compare LT, %zero, %m, FLOAT" + of_two,
        "is_finite %m : (" + type + ")"}) {
    const std::string text = R"(
func.func @main(%x: tensor<12x16xf32>, %w: tensor<16x8xf32>, %g: tensor<12x8xf32>)
    -> (tensor<12x8xf32>, tensor<12x16xf32>) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %zero = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x16xf32>
  %a = stablehlo.add %x, %x : tensor<12x16xf32>
  %m = stablehlo.maximum %a, %zero : tensor<12x16xf32>
  %c = stablehlo.)" + mask + R"( -> tensor<12x16xi1>
  %y = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0]
      : (tensor<12x16xf32>, tensor<16x8xf32>) -> tensor<12x8xf32>
  %d = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1]
      : (tensor<12x8xf32>, tensor<16x8xf32>) -> tensor<12x16xf32>
  %s = stablehlo.select %c, %d, %zero : tensor<12x16xi1>, tensor<12x16xf32>
  return %y, %s : tensor<12x8xf32>, tensor<12x16xf32>
})";
    expect_plan_computes(text, machine());
    const LoweredProgram program =
        lower(simplified_module(import_stablehlo(text, "test.mlir")), machine());
    for (const Buffer& buffer : program.buffers) EXPECT_NE(buffer.type.dtype, DType::kI1);
  }
}

// Comparisons wait for those that use them, and what follows from one of two masks for its own
// user.
TEST_P(Lowering, MasksOfMasksAreComputedWhereTheyAreUsed) {
  const std::string of_two = " : (tensor<70xf32>, tensor<70xf32>) -> tensor<70xi1>";
  check("%x: tensor<70xf32>, %y: tensor<70xf32>", "tensor<70xf32>",
        R"(%cst = stablehlo.constant dense<0.0> : tensor<f32>
           %zero = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<70xf32>
           %finite = stablehlo.is_finite %x : (tensor<70xf32>) -> tensor<70xi1>
           %above = stablehlo.compare GT, %x, %zero, FLOAT)" +
            of_two + R"(
           %below = stablehlo.not %above : tensor<70xi1>
           %a = stablehlo.select %below, %y, %x : tensor<70xi1>, tensor<70xf32>
           %both = stablehlo.and %above, %finite : tensor<70xi1>
           %b = stablehlo.select %both, %a, %y : tensor<70xi1>, tensor<70xf32>
           return %b : tensor<70xf32>)");
}

// The reduction may convert the mask itself: then no vertex would compute what waits for its user.
TEST_P(Lowering, CountsAMaskOfWhatIsKept) {
  check(
      "%x: tensor<12xi32>, %y: tensor<i32>", "tensor<i32>, tensor<12xi32>",
      R"(%m = stablehlo.compare LT, %x, %x, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
           %i = stablehlo.convert %m : (tensor<12xi1>) -> tensor<12xi32>
           %n = stablehlo.reduce(%i init: %y) applies stablehlo.add across dimensions = [0] : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
           return %n, %x : tensor<i32>, tensor<12xi32>)");
}

TEST_P(Lowering, TransposesEveryWidth) {
  for (const char* t : {"f32", "f16", "i8", "i1"}) {
    SCOPED_TRACE(t);
    const std::string from = std::string("tensor<13x37x") + t + ">";
    const std::string to = std::string("tensor<37x13x") + t + ">";
    check("%a: " + from, to,
          "%b = stablehlo.transpose %a, dims = [1, 0] : (" + from + ") -> " + to +
              "\n return %b : " + to);
  }
}

TEST_P(Lowering, TransposesThreeDimensions) {
  check("%a: tensor<5x6x7xf16>", "tensor<7x5x6xf16>",
        R"(%b = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<5x6x7xf16>) -> tensor<7x5x6xf16>
           return %b : tensor<7x5x6xf16>)");
}

TEST_P(Lowering, BroadcastsRowsAndColumns) {
  check("%a: tensor<19xf32>, %b: tensor<23xi8>", "tensor<19x23xf32>, tensor<19x23xi8>",
        R"(%c = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<19xf32>) -> tensor<19x23xf32>
           %d = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<23xi8>) -> tensor<19x23xi8>
           return %c, %d : tensor<19x23xf32>, tensor<19x23xi8>)");
}

TEST_P(Lowering, RepeatsRowsThatAreLongerThanWhatATileHas) {
  check(
      "%x: tensor<3x7x101xf32>, %a: tensor<7x101xf32>, %b: tensor<7x101xi1>", "tensor<3x7x101xf32>",
      R"(%c = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<7x101xf32>) -> tensor<3x7x101xf32>
           %d = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<7x101xi1>) -> tensor<3x7x101xi1>
           %e = stablehlo.add %x, %c : tensor<3x7x101xf32>
           %f = stablehlo.select %d, %e, %x : tensor<3x7x101xi1>, tensor<3x7x101xf32>
           return %f : tensor<3x7x101xf32>)");
}

TEST_P(Lowering, PadsOverTheFill) {
  for (const char* t : {"f32", "i8"}) {
    SCOPED_TRACE(t);
    const std::string e(t);
    check(
        "%a: tensor<5x7x" + e + ">, %z: tensor<" + e + ">", "tensor<12x16x" + e + ">",
        "%b = stablehlo.pad %a, %z, low = [1, 2], high = [2, 1], interior = [1, 1] : (tensor<5x7x" +
            e + ">, tensor<" + e + ">) -> tensor<12x16x" + e + ">\n return %b : tensor<12x16x" + e +
            ">");
  }
}

TEST_P(Lowering, ConcatenatesSlicesAndReverses) {
  for (const char* t : {"f32", "f16", "i8"}) {
    SCOPED_TRACE(t);
    const std::string e(t);
    check("%a: tensor<9x5x" + e + ">, %b: tensor<9x3x" + e + ">", "tensor<3x8x" + e + ">",
          "%c = stablehlo.concatenate %a, %b, dim = 1 : (tensor<9x5x" + e + ">, tensor<9x3x" + e +
              ">) -> tensor<9x8x" + e + ">\n" +
              "%d = stablehlo.slice %c [1:9:3, 0:8] : (tensor<9x8x" + e + ">) -> tensor<3x8x" + e +
              ">\n" + "%r = stablehlo.reverse %d, dims = [1] : tensor<3x8x" + e +
              ">\n return %r : tensor<3x8x" + e + ">");
  }
}

TEST_P(Lowering, ReducesEitherDimension) {
  check("%a: tensor<33x21xf32>", "tensor<33xf32>, tensor<21xf32>, tensor<f32>",
        R"(%z = stablehlo.constant dense<1.0> : tensor<f32>
           %b = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<33x21xf32>, tensor<f32>) -> tensor<33xf32>
           %c = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<33x21xf32>, tensor<f32>) -> tensor<21xf32>
           %d = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<33x21xf32>, tensor<f32>) -> tensor<f32>
           return %b, %c, %d : tensor<33xf32>, tensor<21xf32>, tensor<f32>)");
}

TEST_P(Lowering, ReducesInManyStages) {
  check(
      "%a: tensor<300x12xf32>, %z: tensor<f32>", "tensor<12xf32>",
      R"(%c = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<300x12xf32>, tensor<f32>) -> tensor<12xf32>
           return %c : tensor<12xf32>)");
}

TEST_P(Lowering, MultipliesMatrices) {
  for (const char* t : {"f32", "f16", "i32"}) {
    SCOPED_TRACE(t);
    const std::string e(t);
    check("%a: tensor<17x29x" + e + ">, %b: tensor<29x11x" + e + ">", "tensor<17x11x" + e + ">",
          "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<17x29x" + e +
              ">, tensor<29x11x" + e + ">) -> tensor<17x11x" + e + ">\n return %c : tensor<17x11x" +
              e + ">");
  }
}

TEST_P(Lowering, MultipliesTransposedDeepAndBatched) {
  check(
      "%a: tensor<300x3xf32>, %b: tensor<300x4xf32>", "tensor<4x3xf32>",
      R"(%c = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<300x3xf32>, tensor<300x4xf32>) -> tensor<3x4xf32>
           %d = stablehlo.transpose %c, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
           return %d : tensor<4x3xf32>)");
  check(
      "%a: tensor<3x5x2x7xf32>, %b: tensor<7x3x4xf32>", "tensor<3x5x2x4xf32>",
      R"(%c = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [3] x [0] : (tensor<3x5x2x7xf32>, tensor<7x3x4xf32>) -> tensor<3x5x2x4xf32>
           return %c : tensor<3x5x2x4xf32>)");
}

TEST_P(Lowering, KeepsScalarsAndEmptyTensors) {
  check("%a: tensor<0x4xf32>, %s: tensor<f32>", "tensor<4x0xf32>, tensor<4xf32>, tensor<f32>",
        R"(%b = stablehlo.transpose %a, dims = [1, 0] : (tensor<0x4xf32>) -> tensor<4x0xf32>
           %c = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
           %d = stablehlo.add %s, %s : tensor<f32>
           return %b, %c, %d : tensor<4x0xf32>, tensor<4xf32>, tensor<f32>)");
}

TEST_P(Lowering, ReturnsArgumentsAndConstants) {
  check("%a: tensor<40xf32>", "tensor<40xf32>, tensor<3xi32>, tensor<50xf32>",
        R"(%c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
           %d = stablehlo.constant dense<2.5> : tensor<50xf32>
           return %a, %c, %d : tensor<40xf32>, tensor<3xi32>, tensor<50xf32>)");
}

INSTANTIATE_TEST_SUITE_P(Grids, Lowering,
                         ::testing::Values(std::pair(1, 1), std::pair(4, 4), std::pair(23, 16)));

TEST(LoweredModel, LongFormulasAreNotFusedAndShareOneCodelet) {
  const auto lowered = [](const std::string& op) {
    std::string text =
        "func.func @main(%v0: tensor<4096xf16>, %p: tensor<4096xf16>) -> "
        "tensor<4096xf16> {\n";
    for (int i = 0; i < 6; ++i)
      text += fmt::format("  %v{} = stablehlo.{} %v{}, %p : tensor<4096xf16>\n", i + 1, op, i);
    text += "  return %v6 : tensor<4096xf16>\n}\n";
    return lower(simplified_module(import_stablehlo(text, "t.mlir")), grid_machine(2, 2));
  };
  const auto vertices = [](const LoweredProgram& program) {
    std::size_t sets = 0;
    for (const Superstep* step : supersteps_of(program)) sets += step->computes.size();
    return sets;
  };
  const LoweredProgram powers = lowered("power"), sums = lowered("add");
  EXPECT_EQ(vertices(powers), 6U);
  EXPECT_EQ(powers.codelets.size(), 1U);
  EXPECT_EQ(vertices(sums), 1U);
}

TEST(LoweredModel, ABarrierEndsFusionKeepsOrderAndCopiesNothing) {
  const std::string types = "tensor<8x64xf32>, tensor<64xf32>, tensor<8x64xf32>, tensor<f32>";
  const std::string text =
      "func.func @main(%a: tensor<8x64xf32>, %b: tensor<64xf32>) -> (tensor<8x64xf32>, "
      "tensor<8x64xf32>, tensor<f32>) {\n"
      "  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
      "  %0 = stablehlo.negate %a : tensor<8x64xf32>\n"
      "  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<8x64xf32>\n"
      "  %2 = stablehlo.abs %0 : tensor<8x64xf32>\n"
      "  %3:4 = stablehlo.optimization_barrier %0, %b, %1, %c : " +
      types +
      "\n"
      "  %4 = stablehlo.abs %3#0 : tensor<8x64xf32>\n"
      "  %5 = stablehlo.add %4, %3#2 : tensor<8x64xf32>\n"
      "  return %2, %5, %3#3 : tensor<8x64xf32>, tensor<8x64xf32>, tensor<f32>\n}\n";
  expect_plan_computes(text, grid_machine(2, 2));
  const LoweredProgram program =
      lower(simplified_module(import_stablehlo(text, "t.mlir")), grid_machine(2, 2));
  std::size_t sets = 0;
  for (const Superstep* step : supersteps_of(program)) sets += step->computes.size();
  EXPECT_EQ(sets, 2U);  // what is before the barrier and what is behind it
}

TEST_P(Lowering, WhatIsBehindABarrierIsNotFusedWithItsOperand) {
  // Without an exchange between them both would be work of one time and place.
  check("%a: tensor<64xf32>", "tensor<64xf32>, tensor<64xf32>, tensor<64xf32>",
        R"(%0 = stablehlo.negate %a : tensor<64xf32>
           %1:2 = stablehlo.optimization_barrier %0, %a : tensor<64xf32>, tensor<64xf32>
           %2 = stablehlo.multiply %1#0, %1#1 : tensor<64xf32>
           %3 = stablehlo.optimization_barrier %2 : tensor<64xf32>
           %4 = stablehlo.abs %3 : tensor<64xf32>
           %5 = stablehlo.optimization_barrier %a : tensor<64xf32>
           %6 = stablehlo.subtract %5, %4 : tensor<64xf32>
           return %1#0, %2, %6 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)");
}

TEST(LoweredModel, TheGradientOfMaxPoolingStoresNeitherMasksNorNumbersOfPlaces) {
  const std::string text = R"(
func.func @main(%x: tensor<4x8x8x6xf32>, %dy: tensor<4x4x4x6xf32>, %zero: tensor<f32>)
    -> tensor<4x8x8x6xf32> {
  %dx = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{
      window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %is_greater = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %is_greater : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x8x8x6xf32>, tensor<4x4x4x6xf32>, tensor<f32>) -> tensor<4x8x8x6xf32>
  return %dx : tensor<4x8x8x6xf32>
})";
  expect_plan_computes(text, grid_machine(1, 2));
  const LoweredProgram program =
      lower(simplified_module(import_stablehlo(text, "t.mlir")), grid_machine(1, 2));
  for (const Buffer& buffer : program.buffers) {
    EXPECT_EQ(buffer.type.dtype, DType::kF32) << buffer.name;
  }
}

TEST(LoweredModel, QuickstartAffine) {
  expect_plan_computes(source_of("quickstart/affine.mlir"), grid_machine(1, 1));
}

TEST(LoweredModel, LinearRegression) {
  expect_plan_computes(source_of("linear_regression/train_step.mlir"), grid_machine(4, 4), 1e-5);
}

TEST(LoweredModel, DigitsTrainStep) {
  expect_plan_computes(source_of("digits_mlp/train_step.mlir"), grid_machine(4, 4), 1e-4);
}

TEST(LoweredModel, DigitsAccuracy) {
  expect_plan_computes(source_of("digits_mlp/accuracy.mlir"), grid_machine(4, 4), 1e-4);
}

}  // namespace
}  // namespace superstep
