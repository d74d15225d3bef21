#include <gtest/gtest.h>

#include "compiler/ops/elements.h"
#include "tests/import/importing.h"

namespace superstep {
namespace {

const std::string kToken = "!stablehlo.token";
const std::string kPair = "tuple<tensor<i32>, tensor<2xf32>>";
const std::string kNested = "tuple<tensor<2xf32>, tuple<tensor<i32>>>";

HostTensor floats(const std::vector<double>& values) {
  HostTensor tensor(TensorType{DType::kF32, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) write_float(tensor, i, values[i]);
  return tensor;
}

HostTensor scalar_of(std::int64_t value) {
  HostTensor tensor(TensorType{DType::kI32, {}});
  write_int(tensor, 0, value);
  return tensor;
}

TEST(Tuples, AndTokensAreTheirElementsInFunctionsCallsAndLoops) {
  const Module module = import_stablehlo(
      "func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 2 : i32}, %pair: " + kNested +
          ", %t: " + kToken + ") -> (" + kToken + ", tensor<i32>, tensor<2xf32>) {\n" +
          "  %0 = stablehlo.create_token : " + kToken + "\n" +
          "  %1 = stablehlo.after_all %0, %t : " + kToken + "\n" +
          "  %y, %2 = stablehlo.optimization_barrier %x, %1 : tensor<2xf32>, " + kToken + "\n" +
          "  %3 = stablehlo.get_tuple_element %pair[1] : (" + kNested +
          ") -> tuple<tensor<i32>>\n" +
          "  %4 = \"stablehlo.get_tuple_element\"(%3) <{index = 0 : i32}> : (tuple<tensor<i32>>) "
          "-> tensor<i32>\n"
          "  %5:2 = call @twice(%2, %y) : (" +
          kToken + ", tensor<2xf32>) -> (" + kToken + ", tensor<2xf32>)\n" +
          "  %6 = stablehlo.tuple %4, %5#1 : " + kPair + "\n" +
          "  %7:2 = stablehlo.while(%i = %6, %k = %5#0) : " + kPair + ", " + kToken + "\n" +
          "   cond {\n"
          "    %8 = stablehlo.get_tuple_element %i[0] : (" +
          kPair + ") -> tensor<i32>\n" +
          "    %c = stablehlo.constant dense<3> : tensor<i32>\n"
          "    %9 = stablehlo.compare LT, %8, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
          "    stablehlo.return %9 : tensor<i1>\n"
          "  } do {\n"
          "    %8 = stablehlo.get_tuple_element %i[0] : (" +
          kPair + ") -> tensor<i32>\n" + "    %9 = stablehlo.get_tuple_element %i[1] : (" + kPair +
          ") -> tensor<2xf32>\n" +
          "    %c = stablehlo.constant dense<1> : tensor<i32>\n"
          "    %10 = stablehlo.add %8, %c : tensor<i32>\n"
          "    %11 = stablehlo.add %9, %y : tensor<2xf32>\n"
          "    %12 = stablehlo.tuple %10, %11 : " +
          kPair + "\n" + "    stablehlo.return %12, %k : " + kPair + ", " + kToken + "\n" +
          "  }\n"
          "  %13 = stablehlo.get_tuple_element %7#0[0] : (" +
          kPair + ") -> tensor<i32>\n" + "  %14 = stablehlo.get_tuple_element %7#0[1] : (" + kPair +
          ") -> tensor<2xf32>\n" + "  return %7#1, %13, %14 : " + kToken +
          ", tensor<i32>, tensor<2xf32>\n}\n" + "func.func private @twice(%t: " + kToken +
          ", %x: tensor<2xf32>) -> (" + kToken + ", tensor<2xf32>) {\n" +
          "  %0 = stablehlo.add %x, %x : tensor<2xf32>\n"
          "  return %t, %0 : " +
          kToken + ", tensor<2xf32>\n}\n",
      "f.mlir");
  ASSERT_EQ(module.main.arguments().size(), 3U);
  EXPECT_EQ(module.argument_alias[0], 1U);
  const std::vector<HostTensor> results =
      evaluate(module.main, std::vector{floats({1, 5}), floats({0, 0}), scalar_of(1)});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(read_int(results[0], 0), 3);
  EXPECT_EQ(read_float(results[1], 0), 4);
  EXPECT_EQ(read_float(results[1], 1), 20);
}

TEST(Tuples, AreRefusedWhereTheirTypesDiffer) {
  const std::string element = "%1 = stablehlo.get_tuple_element %0[2] : (" + kPair + ") -> ";
  EXPECT_EQ(
      refusal("func.func @main(%0: " + kPair + ") {\n" + element + "tensor<i32>\nreturn\n}")
          .problems,
      (std::vector<std::string>{"2:6: stablehlo.get_tuple_element names no element of a tuple"}));
  EXPECT_EQ(refusal("func.func @main(%0: tensor<i32>) {\n%1 = stablehlo.tuple %0 : " + kPair +
                    "\nreturn\n}")
                .problems,
            (std::vector<std::string>{
                "2:6: stablehlo.tuple has a result of another type than its operands give"}));
}

TEST(Tuples, ThatAreNestedTooDeeplyAreRefused) {
  std::string type;
  for (int i = 0; i < 100'000; ++i) type += "tuple<";
  EXPECT_EQ(refusal("func.func @main(%0: " + type + std::string(100'000, '>') + ") {\nreturn\n}")
                .problems.at(0),
            "1:213: tuples nested too deeply");
  EXPECT_EQ(refusal("func.func @main(%0: tensor<i32>, %1: " + kPair +
                    ") {\n%2 = stablehlo.optimization_barrier %1 : tensor<i32>\nreturn\n}")
                .problems,
            (std::vector<std::string>{"2:37: %1 has another type than this op says"}));
}

TEST(Composites, AreCallsOfTheirDecomposition) {
  const auto with = [](const std::string& op) {
    return "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = " + op +
           " : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n"
           "func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
           "  %0 = stablehlo.add %x, %x : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n";
  };
  for (const std::string op :
       {"stablehlo.composite \"my.twice\" %x {composite_attributes = {n = 2 : i64}, "
        "decomposition = @twice, version = 1 : i32}",
        "\"stablehlo.composite\"(%x) <{decomposition = @twice, name = \"my.twice\"}>"}) {
    const Module module = import_stablehlo(with(op), "f.mlir");
    EXPECT_EQ(read_float(evaluate(module.main, std::vector{floats({3, 4})})[0], 1), 8);
  }
  EXPECT_EQ(
      refusal(with("stablehlo.composite \"my.twice\" %x {version = 1 : i32}")).problems,
      (std::vector<std::string>{"2:8: stablehlo.composite misses its decomposition = @function"}));
  EXPECT_EQ(
      refusal(with("stablehlo.composite \"f\" %x {decomposition = @thrice}")).problems,
      (std::vector<std::string>{"2:8: the module has no function @thrice; did you mean @twice?"}));
}

TEST(CalledComputations, AreRegionsOfTheOpThatCallsThem) {
  const auto calling = [](const std::string& function) {
    return "func.func @above(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {\n"
           "  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
           "  stablehlo.return %0 : tensor<i1>\n}\n"
           "func.func public @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<1xf32> {\n"
           "  %0 = stablehlo.custom_call @ApproxTopK(%x, %y) {called_computations = [" +
           function +
           "], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 0 : i64, top_k = 1 "
           ": i64}} : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>\n"
           "  return %0 : tensor<1xf32>\n}\n";
  };
  const Module module = import_stablehlo(calling("@above"), "f.mlir");
  EXPECT_EQ(module.main.ops().at(0).regions.size(), 1U);
  EXPECT_EQ(
      read_float(evaluate(module.main, std::vector{floats({3, 4}),
                                                   [] {
                                                     HostTensor y(TensorType{DType::kF32, {}});
                                                     return y;
                                                   }()})[0],
                 0),
      4);
  EXPECT_EQ(
      refusal(calling("@abov")).problems,
      (std::vector<std::string>{"6:8: the module has no function @abov; did you mean @above?"}));
  EXPECT_EQ(
      refusal(calling("@main")).problems,
      (std::vector<std::string>{"6:8: function @main calls itself; recursion is not supported"}));
  EXPECT_EQ(
      refusal(calling("@above, @above")).problems,
      (std::vector<std::string>{"6:8: stablehlo.custom_call: calls 2 functions, expected 1"}));
}

}  // namespace
}  // namespace superstep
