// Ops that take as operands what others have as attributes. Expected values are worked out by hand,
// or taken from the examples of the StableHLO specification.

#include <string>
#include <vector>

#include "base/error.h"
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

/// A function of `arguments` that returns a value %r of type `result`.
std::string function(const std::string& arguments, const std::string& result,
                     const std::string& body) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n" + body +
         "  return %r : " + result + "\n}";
}

void expect(const std::string& text, const std::vector<HostTensor>& arguments,
            const HostTensor& expected) {
  SCOPED_TRACE(text);
  const Module module = import_stablehlo(text, "dynamic.mlir");
  EXPECT_TRUE(close(evaluate(module.main, arguments)[0], expected, 0)) << "reference";
  const RunResult run = run_image(compile(module, load_machine("tiny4")), arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  EXPECT_TRUE(close(run.results[0], expected, 0)) << "tiny4";
}

/// What refuses the text when it is compiled.
template <class Error>
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(compile(import_stablehlo(text, "dynamic.mlir"), load_machine("tiny4")));
  } catch (const Error& error) {
    EXPECT_EQ(error.problems()[0].where.file, "dynamic.mlir");
    EXPECT_GT(error.problems()[0].where.line, 1U);
    return error.problems()[0].message;
  }
  ADD_FAILURE() << "not refused";
  return {};
}

const std::string kShape23 = "  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n";

TEST(DynamicShapes, ThatResultTypesSayAreTaken) {
  const HostTensor six = i32({6}, {1, 2, 3, 4, 5, 6});
  const HostTensor two_by_three = i32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect(function("%x: tensor<6xi32>", "tensor<2x3xi32>",
                  kShape23 +
                      "  %r = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, tensor<2xi64>) -> "
                      "tensor<2x3xi32>\n"),
         {six}, two_by_three);
  expect(function("%x: tensor<3xi32>", "tensor<2x3xi32>",
                  kShape23 + "  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : "
                             "(tensor<3xi32>, tensor<2xi64>) -> tensor<2x3xi32>\n"),
         {i32({3}, {7, 8, 9})}, i32({2, 3}, {7, 8, 9, 7, 8, 9}));
  // Also where the shape is known at run time only.
  expect(function("%x: tensor<6xi32>, %s: tensor<2xi32>", "tensor<2x3xi32>",
                  "  %i = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<2x3xi32>\n"
                  "  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, tensor<2xi32>) -> "
                  "tensor<2x3xi32>\n"
                  "  %r = stablehlo.add %i, %y : tensor<2x3xi32>\n"),
         {six, i32({2}, {2, 3})}, i32({2, 3}, {1, 2, 3, 5, 6, 7}));
}

TEST(DynamicShapes, AmountsThatAreConstantAreAttributes) {
  const std::string amounts =
      "  %a = stablehlo.constant dense<[0, 1]> : tensor<2xi64>\n"
      "  %b = stablehlo.constant dense<[2, 1]> : tensor<2xi64>\n"
      "  %c = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n"
      "  %z = stablehlo.constant dense<0> : tensor<i32>\n";
  const HostTensor x = i32({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string three = ", tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ";
  expect(function("%x: tensor<2x3xi32>", "tensor<5x9xi32>",
                  amounts +
                      "  %r = stablehlo.dynamic_pad %x, %z, %a, %b, %c : (tensor<2x3xi32>, "
                      "tensor<i32>" +
                      three + "tensor<5x9xi32>\n"),
         {x}, i32({5, 9}, {0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5,
                           0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  expect(function("%x: tensor<2x3xi32>", "tensor<2x1xi32>",
                  amounts +
                      "  %e = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n"
                      "  %r = stablehlo.real_dynamic_slice %x, %a, %e, %c : (tensor<2x3xi32>" +
                      three + "tensor<2x1xi32>\n"),
         {x}, i32({2, 1}, {2, 5}));
  expect(function("%x: tensor<2x3xi32>", "tensor<2x3xi32>",
                  "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
                  "  %r = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xi32>, "
                  "tensor<i32>) -> tensor<2x3xi32>\n"),
         {x}, x);
  expect(
      function("%x: tensor<2x3xi32>, %i: tensor<2x1xi32>", "tensor<2x2xi32>",
               "  %n = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
               "  %r = \"stablehlo.dynamic_gather\"(%x, %i, %n) {dimension_numbers = "
               "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
               "[1], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<2x3xi32>, "
               "tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x2xi32>\n"),
      {x, i32({2, 1}, {1, 5})}, i32({2, 2}, {2, 3, 2, 3}));
  expect(function("%x: tensor<1x1x3xf32>, %k: tensor<1x1x2xf32>", "tensor<1x1x4xf32>",
                  "  %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>\n"
                  "  %r = \"stablehlo.dynamic_conv\"(%x, %k, %p) {dimension_numbers = "
                  "#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, "
                  "batch_group_count = 1 : i64} : (tensor<1x1x3xf32>, tensor<1x1x2xf32>, "
                  "tensor<1x2xi32>) -> tensor<1x1x4xf32>\n"),
         {numbers(DType::kF32, {1, 1, 3}, {1, 2, 3}), numbers(DType::kF32, {1, 1, 2}, {10, 1})},
         numbers(DType::kF32, {1, 1, 4}, {1, 12, 23, 30}));
}

TEST(DynamicShapes, OfRunTimeAndThoseThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal<Unsupported>(
                function("%x: tensor<4xi32>, %a: tensor<1xi32>", "tensor<2xi32>",
                         "  %r = stablehlo.real_dynamic_slice %x, %a, %a, %a : (tensor<4xi32>, "
                         "tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n")),
            "stablehlo.real_dynamic_slice: operand 1 is known at run time only; give a constant");
  EXPECT_EQ(refusal<Unsupported>(
                function("%x: tensor<4xi32>", "tensor<4xi32>",
                         "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
                         "  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xi32>, "
                         "tensor<i32>) -> tensor<4xi32>\n")),
            "stablehlo.set_dimension_size: makes 3 elements of the 4 of dimension 0: sizes of run "
            "time");
  EXPECT_EQ(refusal<MalformedInput>(
                function("%x: tensor<6xi32>", "tensor<3x2xi32>",
                         kShape23 + "  %r = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, "
                                    "tensor<2xi64>) -> tensor<3x2xi32>\n")),
            "stablehlo.dynamic_reshape: asks for the shape [2, 3] as tensor<3x2xi32>");
  EXPECT_EQ(refusal<MalformedInput>(
                function("%x: tensor<6xi32>", "tensor<6xi32>",
                         kShape23 + "  %r = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, "
                                    "tensor<2xi64>) -> tensor<6xi32>\n")),
            "stablehlo.dynamic_reshape: operand 1 is tensor<2xi64>, expected tensor<1xi64>");
}

}  // namespace
}  // namespace superstep
