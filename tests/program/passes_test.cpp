#include "compiler/passes/passes.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

const Op& op_named(const Graph& graph, const std::string& name) {
  for (const Op& op : graph.ops()) {
    if (op.definition->name == name) return op;
  }
  throw std::logic_error("no " + name);
}

TEST(Passes, OpsThatComeFromDifferentPlacesAreEqual) {
  const Module module = import_stablehlo(R"(
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = stablehlo.negate %a : tensor<4xf32> loc("model.py":1:2)
  %c = stablehlo.negate %a : tensor<4xf32> loc("model.py":3:4)
  %d = stablehlo.add %b, %c : tensor<4xf32>
  return %d : tensor<4xf32>
})",
                                         "test.mlir");
  EXPECT_EQ(module.main.ops().size(), 3u);
  EXPECT_EQ(merge_equal_ops(module.main).ops().size(), 2u);
}

Module comparison(const std::string& direction, const std::string& type,
                  const std::string& extreme) {
  return import_stablehlo(
      "func.func @main(%a: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xi1>) {\n"
      "  %c = stablehlo." +
          extreme + " %b, %a : tensor<6xf32>\n  %d = stablehlo.compare " + direction +
          ", %a, %b, " + type +
          " : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>\n"
          "  return %c, %d : tensor<6xf32>, tensor<6xi1>\n}",
      "test.mlir");
}

TEST(Passes, OpsOnBothSidesOfABarrierAreNotMergedAndConstantsBehindItNotFolded) {
  const Module module = import_stablehlo(R"(
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.sine %a : tensor<4xf32>
  %1:2 = stablehlo.optimization_barrier %a, %c : tensor<4xf32>, tensor<f32>
  %2:2 = stablehlo.optimization_barrier %a, %c : tensor<4xf32>, tensor<f32>
  %3 = stablehlo.sine %1#0 : tensor<4xf32>
  %4 = stablehlo.sine %2#0 : tensor<4xf32>
  %5 = stablehlo.add %3, %4 : tensor<4xf32>
  %6 = stablehlo.negate %1#1 : tensor<f32>
  return %0, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
})",
                                         "test.mlir");
  const Graph graph = fold_constants(merge_equal_ops(module.main));
  std::map<std::string_view, int> count;
  for (const Op& op : graph.ops()) ++count[op.definition->name];
  EXPECT_EQ(count["stablehlo.sine"], 3);
  EXPECT_EQ(count["stablehlo.optimization_barrier"], 2);
  EXPECT_EQ(count["stablehlo.negate"], 1);
}

TEST(Passes, ComparisonsTakeTheExtremeThatIsThere) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr std::array<float, 6> kA{1, -1, kNaN, 2, -0.0F, 0.5F}, kB{0, 0, 0, kNaN, 0, 0.5F};
  HostTensor a(TensorType{DType::kF32, {6}}), b(a.type);
  for (std::size_t i = 0; i < kA.size(); ++i) {
    a.set<float>(i, kA[i]);
    b.set<float>(i, kB[i]);
  }
  const std::vector<HostTensor> arguments{a, b};
  for (const auto& [direction, extreme] :
       {std::pair("GT", "maximum"), std::pair("LE", "maximum"), std::pair("LT", "minimum"),
        std::pair("GE", "minimum")}) {
    SCOPED_TRACE(direction);
    const Module module = comparison(direction, "FLOAT", extreme);
    const Graph changed = compare_extremes(module.main);
    EXPECT_EQ(op_named(changed, "stablehlo.compare").operands[0], changed.results()[0]);
    EXPECT_EQ(evaluate(changed, arguments)[1].data, evaluate(module.main, arguments)[1].data);
  }
}

TEST(Passes, OtherComparisonsKeepTheirOperands) {
  for (const auto& [direction, type, extreme] :
       {std::tuple("GT", "TOTALORDER", "maximum"), std::tuple("EQ", "FLOAT", "maximum"),
        std::tuple("GT", "FLOAT", "minimum"), std::tuple("GE", "FLOAT", "maximum")}) {
    SCOPED_TRACE(direction);
    const Graph changed = compare_extremes(comparison(direction, type, extreme).main);
    EXPECT_EQ(op_named(changed, "stablehlo.compare").operands[0], changed.arguments()[0]);
  }
}

}  // namespace
}  // namespace superstep
