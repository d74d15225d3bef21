// The pretty forms of ops that stand for others.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "tests/import/importing.h"

namespace superstep {
namespace {

/// The whole numbers of the first result of a function of [1, 2, 3] and [[1, 2, 3], [4, 5, 6]].
std::vector<std::int64_t> result_of(const std::string& body, const std::string& type) {
  HostTensor row({DType::kI32, {3}}), matrix({DType::kI32, {2, 3}});
  for (std::size_t i = 0; i < 6; ++i) write_int(matrix, i, static_cast<std::int64_t>(i) + 1);
  for (std::size_t i = 0; i < 3; ++i) write_int(row, i, static_cast<std::int64_t>(i) + 1);
  const std::string text = "func.func @main(%a: tensor<3xi32>, %b: tensor<2x3xi32>) -> tensor<" +
                           type + "> {\n" + body + "\n  return %r : tensor<" + type + ">\n}";
  const HostTensor result =
      evaluate(import_stablehlo(text, "f.mlir").main, std::vector{row, matrix})[0];
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    numbers.push_back(read_int(result, i));
  }
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

TEST(ShorthandForms, OfProductsAndBroadcasts) {
  EXPECT_EQ(result_of("%r = stablehlo.dot %b, %a, precision = [DEFAULT, DEFAULT] : "
                      "(tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>",
                      "2xi32"),
            (Numbers{14, 32}));
  EXPECT_EQ(result_of("%r = stablehlo.einsum %b, %a, config = \"ab,b->a\" : "
                      "(tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>",
                      "2xi32"),
            (Numbers{14, 32}));
  EXPECT_EQ(result_of("%r = stablehlo.unary_einsum %b, config = \"ab->b\" : "
                      "(tensor<2x3xi32>) -> tensor<3xi32>",
                      "3xi32"),
            (Numbers{5, 7, 9}));
  EXPECT_EQ(result_of("%r = stablehlo.broadcast %a, sizes = [2] : "
                      "(tensor<3xi32>) -> tensor<2x3xi32>",
                      "2x3xi32"),
            (Numbers{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(result_of("%r = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} : "
                      "(tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>",
                      "2x3xi32"),
            (Numbers{2, 4, 6, 5, 7, 9}));
  EXPECT_EQ(result_of("%r = \"chlo.broadcast_compare\"(%a, %b) {comparison_direction = "
                      "#chlo<comparison_direction LT>} : "
                      "(tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>",
                      "2x3xi1"),
            (Numbers{0, 0, 0, 1, 1, 1}));
}

TEST(ShorthandForms, OfConstants) {
  EXPECT_EQ(result_of("%r = chlo.constant dense<7> : tensor<2xi32>", "2xi32"), (Numbers{7, 7}));
  EXPECT_EQ(result_of("%r = \"chlo.constant_like\"(%a) {value = 3 : i32} : "
                      "(tensor<3xi32>) -> tensor<3xi32>",
                      "3xi32"),
            (Numbers{3, 3, 3}));
}

TEST(ShorthandForms, OfScans) {
  const std::string function =
      "  ^bb0(%x: tensor<i32>, %c: tensor<i32>):\n"
      "    %s = stablehlo.add %x, %c : tensor<i32>\n"
      "    stablehlo.return %s, %s : tensor<i32>, tensor<i32>\n";
  const std::string zero = "  %z = stablehlo.constant dense<0> : tensor<i32>\n";
  const std::string types = " : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>)";
  EXPECT_EQ(result_of(zero + "  %r, %l = chlo.scan(%a) inits(%z) dimension=0 {\n" + function +
                          "  }" + types,
                      "3xi32"),
            (Numbers{1, 3, 6}));
  EXPECT_EQ(result_of(zero +
                          "  %r, %l = chlo.scan(%a) inits(%z) dimension=0 "
                          "attributes {is_reverse = true} {\n" +
                          function + "  }" + types,
                      "3xi32"),
            (Numbers{6, 5, 3}));
  EXPECT_EQ(result_of(zero +
                          "  %r, %l = \"chlo.scan\"(%a, %z) <{dimension = 0 : i64, "
                          "operandSegmentSizes = array<i32: 1, 1>}> ({\n" +
                          function + "  })" + types,
                      "3xi32"),
            (Numbers{1, 3, 6}));
}

TEST(ShorthandForms, WhatIsWrongWithThemIsSaid) {
  const auto problem = [](const std::string& op) {
    const Refusal refused =
        refusal("func.func @main(%a: tensor<3xi32>, %b: tensor<2x3xi32>) -> tensor<3xi32> {\n  " +
                op + "\n  return %r : tensor<3xi32>\n}");
    return refused.problems.empty() ? std::string() : refused.problems[0];
  };
  EXPECT_EQ(problem("%r = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : "
                    "(tensor<3xi32>, tensor<2x3xi32>) -> tensor<3xi32>"),
            "2:8: chlo.broadcast_add: operands have 3 and 2 elements in dimension 0");
  EXPECT_EQ(problem("%r = stablehlo.einsum %a, %b, config = \"a,ab->a\" : "
                    "(tensor<3xi32>, tensor<2x3xi32>) -> tensor<3xi32>"),
            "2:8: stablehlo.einsum: a,ab->a names dimensions of 3 and 2 elements alike");
  EXPECT_EQ(problem("%r = stablehlo.unary_einsum %a, config = \"a->aa\" : "
                    "(tensor<3xi32>) -> tensor<3xi32>"),
            "2:8: stablehlo.unary_einsum: the result of a->aa has a label twice or a new one");
  EXPECT_EQ(problem("%r = \"stablehlo.torch_index_select\"(%b, %a) {dim = 0 : i64, batch_dims = 2 "
                    ": i64} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3xi32>"),
            "2:8: stablehlo.torch_index_select: batch_dims is 2");
  EXPECT_EQ(problem("%r = \"chlo.ragged_dot\"(%b, %b, %a) {ragged_dot_dimension_numbers = "
                    "#chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
                    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
                    "lhs_ragged_dimensions = [0, 1], rhs_group_dimensions = [0]>} : "
                    "(tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xi32>) -> tensor<3xi32>"),
            "2:8: chlo.ragged_dot: lhs_ragged_dimensions is not one dimension");
}

}  // namespace
}  // namespace superstep
