#include <gtest/gtest.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "tests/import/importing.h"

namespace superstep {
namespace {

HostTensor integer(std::int32_t value) {
  HostTensor tensor(TensorType{DType::kI32, {}});
  tensor.set<std::int32_t>(0, value);
  return tensor;
}

HostTensor number(float value) {
  HostTensor tensor(TensorType{DType::kF32, {}});
  tensor.set<float>(0, value);
  return tensor;
}

std::vector<HostTensor> evaluated(std::string_view text, const std::vector<HostTensor>& arguments) {
  return evaluate(import_stablehlo(text, "f.mlir").main, arguments);
}

constexpr std::string_view kPowers = R"(
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %zero, %power = %one) : tensor<i32>, tensor<f32>
   cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %c : tensor<i32>
    %2 = stablehlo.multiply %power, %x : tensor<f32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<f32>
})";

TEST(While, TakesItsBodyAsLongAsItsConditionHolds) {
  for (const std::int32_t n : {0, 1, 5}) {
    const auto results = evaluated(kPowers, {integer(n), number(3)});
    EXPECT_EQ(results[0].get<std::int32_t>(0), n);
    EXPECT_EQ(results[1].get<float>(0), n == 0 ? 1.0F : n == 1 ? 3.0F : 243.0F);
  }
}

TEST(While, WhatItsRegionsUseOfOutsideAreOperandsAndArgumentsOfBoth) {
  const Module module = import_stablehlo(kPowers, "f.mlir");
  const Op& op = module.main.ops().back();
  ASSERT_EQ(op.operands.size(), 4U);
  EXPECT_EQ(module.main.value(op.operands[2]).name, "n");
  EXPECT_EQ(module.main.value(op.operands[3]).name, "x");
  for (const Graph& region : op.regions) {
    ASSERT_EQ(region.arguments().size(), 4U);
    EXPECT_EQ(region.value(region.arguments()[3]).name, "x");
  }
  EXPECT_EQ(op.results.size(), 2U);
}

TEST(While, InnerRegionsReachValuesOfAllThatHoldThem) {
  const auto results = evaluated(R"(
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %zero, %s = %start) : tensor<i32>, tensor<f32> attributes {jax.a = 1 : i32}
   cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %r:2 = stablehlo.while(%j = %zero, %t = %s) : tensor<i32>, tensor<f32>
     cond {
      %1 = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %j, %c : tensor<i32>
      %2 = stablehlo.reduce(%x init: %t) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
    }
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %c : tensor<i32>
    stablehlo.return %1, %r#1 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
})",
                                 {integer(4), [] {
                                    HostTensor x(TensorType{DType::kF32, {4}});
                                    for (std::size_t i = 0; i < 4; ++i) x.set<float>(i, 1.0F);
                                    return x;
                                  }()});
  EXPECT_EQ(results[0].get<float>(0), 4.0F * (0 + 1 + 2 + 3));
}

constexpr std::string_view kCase = R"(
func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %1 = stablehlo.multiply %x, %half : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %1 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0 : tensor<f32>
})";

TEST(Case, TakesTheRegionOfItsNumberAndTheLastForNumbersOutOfRange) {
  const std::vector<std::pair<std::int32_t, float>> expected = {
      {0, 8.0F}, {1, 4.0F}, {2, -8.0F}, {3, -8.0F}, {-1, -8.0F}};
  for (const auto& [number_of, value] : expected) {
    EXPECT_EQ(evaluated(kCase, {integer(number_of), number(8)})[0].get<float>(0), value);
  }
}

TEST(If, TakesTheFirstRegionIfItsOperandIsTrue) {
  constexpr std::string_view kText = R"(
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %1 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
})";
  for (const bool taken : {false, true}) {
    HostTensor predicate(TensorType{DType::kI1, {}});
    predicate.set<std::uint8_t>(0, taken ? 1 : 0);
    EXPECT_EQ(evaluated(kText, {predicate, number(2)})[0].get<float>(0), taken ? 2.0F : -2.0F);
  }
}

TEST(Control, NoPassRunsALoopToFoldIt) {
  Module module = import_stablehlo(R"(
func.func @main() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
   cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return %0 : tensor<i32>
})",
                                   "f.mlir");
  const Graph folded = apply_with_regions(std::move(module.main), fold_constants);
  EXPECT_EQ(folded.ops().back().definition->name, "stablehlo.while");
}

TEST(Control, RefusalsNameTheirPlace) {
  const auto refused = [](std::string_view body) {
    return refusal("func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> () {\n" +
                   std::string(body) + "\nreturn\n}\n")
        .problems;
  };
  EXPECT_EQ(refused(R"(%0 = stablehlo.while(%a = %x) : tensor<f32> cond {
stablehlo.return %a : tensor<f32> } do { stablehlo.return %a : tensor<f32> })"),
            std::vector<std::string>{
                "2:6: stablehlo.while: the condition does not return one tensor<i1>"});
  EXPECT_EQ(refused(R"(%0 = stablehlo.while(%a = %x) : tensor<f32> cond {
%p = stablehlo.compare LT, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
stablehlo.return %p : tensor<i1> } do { stablehlo.return %i : tensor<i32> })"),
            std::vector<std::string>{"2:6: stablehlo.while: the body returns tensor<i32> as value "
                                     "0, but tensor<f32> is carried"});
  EXPECT_EQ(refused(R"(%0 = "stablehlo.case"(%x) ({ stablehlo.return %x : tensor<f32> }) :
(tensor<f32>) -> tensor<f32>)"),
            std::vector<std::string>{"2:6: stablehlo.case: element type f32 is not one of i32"});
  EXPECT_EQ(refused(R"(%0 = stablehlo.while(%a = %x) : tensor<f32> cond {
%p = stablehlo.compare LT, %nowhere, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
stablehlo.return %p : tensor<i1> } do { stablehlo.return %a : tensor<f32> })"),
            std::vector<std::string>{"3:28: %nowhere is not defined in front of its use"});
}

}  // namespace
}  // namespace superstep
