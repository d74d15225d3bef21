// Useful floating-point operations of what ran, against counts by hand.

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace superstep {
namespace {

/// Those of a program with this body, which makes %r of its arguments, on a machine.
std::uint64_t flops_of(const std::string& arguments, const std::string& body,
                       const std::string& result, const std::string& machine) {
  const std::string path = (scratch_folder() / "flops.mlir").string();
  std::ofstream(path) << "func.func @main(" + arguments + ") -> " + result + " {\n" + body +
                             "  return %r : " + result + "\n}\n";
  const ProgramRun run = superstep("run --input random:1 --json -q -m " + machine + " " + path);
  EXPECT_EQ(run.code, 0) << run.err;
  return run.code == 0 ? nlohmann::json::parse(run.out)["flops"].get<std::uint64_t>() : 0;
}

/// The same count on machines that cut the work differently.
void expect_flops(std::uint64_t count, const std::string& arguments, const std::string& body,
                  const std::string& result) {
  for (const char* machine : {"tiny4", "small64"}) {
    EXPECT_EQ(flops_of(arguments, body, result, machine), count) << machine << '\n' << body;
  }
}

/// A reduction of %x by an op, from 0.
std::string reduction(const std::string& op, const std::string& dimensions, const std::string& from,
                      const std::string& type, const std::string& to) {
  const std::string scalar = "tensor<" + type + ">";
  return "  %z = stablehlo.constant dense<0" + std::string(type[0] == 'f' ? ".0" : "") +
         "> : " + scalar + "\n  %r = stablehlo.reduce(%x init: %z) applies stablehlo." + op +
         " across dimensions = [" + dimensions + "] : (" + from + ", " + scalar + ") -> " + to +
         "\n";
}

TEST(Flops, OfElementwiseArithmeticAreItsOpsOnFloats) {
  const std::string type = "tensor<4096xf32>";
  expect_flops(5 * 4096, "%x: " + type + ", %y: " + type,
               "  %a = stablehlo.add %x, %y : " + type + "\n  %b = stablehlo.multiply %a, %y : " +
                   type + "\n  %c = stablehlo.divide %b, %a : " + type +
                   "\n  %d = stablehlo.exponential %c : " + type +
                   "\n  %r = stablehlo.sqrt %d : " + type + "\n",
               type);
  expect_flops(4096, "%x: tensor<4096xf16>", "  %r = stablehlo.add %x, %x : tensor<4096xf16>\n",
               "tensor<4096xf16>");
}

TEST(Flops, AreNoneWhereIntegersAreComputedOrFloatsOnlyChosenOrMoved) {
  const std::string type = "tensor<4096xf32>", bools = "tensor<4096xi1>";
  expect_flops(0, "%x: tensor<4096xi32>",
               "  %a = stablehlo.add %x, %x : tensor<4096xi32>\n"
               "  %r = stablehlo.multiply %a, %x : tensor<4096xi32>\n",
               "tensor<4096xi32>");
  expect_flops(0, "%x: " + type + ", %y: " + type,
               "  %p = stablehlo.compare LT, %x, %y : (" + type + ", " + type + ") -> " + bools +
                   "\n  %s = stablehlo.select %p, %x, %y : " + bools + ", " + type +
                   "\n  %m = stablehlo.maximum %s, %y : " + type +
                   "\n  %n = stablehlo.negate %m : " + type + "\n  %r = stablehlo.convert %n : (" +
                   type + ") -> tensor<4096xi32>\n",
               "tensor<4096xi32>");
}

TEST(Flops, OfComplexNumbersAreThoseOfTheirParts) {
  const std::string type = "tensor<1024xcomplex<f32>>";
  expect_flops(2 * 1024, "%x: " + type, "  %r = stablehlo.add %x, %x : " + type + "\n", type);
  expect_flops(6 * 1024, "%x: " + type + ", %y: " + type,
               "  %r = stablehlo.multiply %x, %y : " + type + "\n", type);
}

TEST(Flops, OfAProductAreTwiceItsSizesHoweverTilesShareItsDepth) {
  const std::string sizes = " : (tensor<64x512xf32>, tensor<512x32xf32>) -> tensor<64x32xf32>\n";
  expect_flops(2 * 64 * 32 * 512, "%x: tensor<64x512xf32>, %y: tensor<512x32xf32>",
               "  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]" + sizes,
               "tensor<64x32xf32>");
  expect_flops(2 * 8 * 8 * 4096, "%x: tensor<8x4096xf16>, %y: tensor<4096x8xf16>",
               "  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
               "(tensor<8x4096xf16>, tensor<4096x8xf16>) -> tensor<8x8xf32>\n",
               "tensor<8x8xf32>");
  expect_flops(0, "%x: tensor<16x64xi32>, %y: tensor<64x16xi32>",
               "  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
               "(tensor<16x64xi32>, tensor<64x16xi32>) -> tensor<16x16xi32>\n",
               "tensor<16x16xi32>");
}

TEST(Flops, OfASumAreOneLessThanItsElementsForEachResult) {
  const std::string type = "tensor<64x4096xf32>";
  expect_flops(64 * 4096 - 1, "%x: " + type, reduction("add", "0, 1", type, "f32", "tensor<f32>"),
               "tensor<f32>");
  expect_flops(64 * 4095, "%x: " + type, reduction("add", "1", type, "f32", "tensor<64xf32>"),
               "tensor<64xf32>");
  expect_flops(63 * 4096, "%x: " + type, reduction("add", "0", type, "f32", "tensor<4096xf32>"),
               "tensor<4096xf32>");
  expect_flops(0, "%x: " + type, reduction("maximum", "1", type, "f32", "tensor<64xf32>"),
               "tensor<64xf32>");
  expect_flops(0, "%x: tensor<4096xi32>",
               reduction("add", "0", "tensor<4096xi32>", "i32", "tensor<i32>"), "tensor<i32>");
}

TEST(Flops, OfAScatterThatAddsAreItsUpdates) {
  expect_flops(
      100 * 8, "%x: tensor<512x8xf32>, %i: tensor<100x1xi32>, %u: tensor<100x8xf32>",
      "  %r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
      "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %s = stablehlo.add %a, %b : tensor<f32>\n"
      "    stablehlo.return %s : tensor<f32>\n"
      "  }) : (tensor<512x8xf32>, tensor<100x1xi32>, tensor<100x8xf32>) -> tensor<512x8xf32>\n",
      "tensor<512x8xf32>");
}

}  // namespace
}  // namespace superstep
