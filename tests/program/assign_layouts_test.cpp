#include "compiler/lower/assign_layouts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "compiler/compile.h"
#include "compiler/passes/passes.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

/// The layouts that a module's values get on bow.
class AssignLayouts : public ::testing::Test {
 protected:
  AssignedLayouts assign(const std::string& text) {
    module_ = import_stablehlo(text, "test.mlir");
    return assign_layouts(module_, layouts_);
  }
  [[nodiscard]] ValueId argument(std::size_t a) const { return module_.main.arguments()[a]; }
  [[nodiscard]] ValueId result(std::size_t r) const { return module_.main.results()[r]; }

  Module module_;
  MachineConfig bow_ = load_machine("bow");
  Layouts layouts_{bow_};
};

constexpr std::int64_t kRow = 1024;

/// A function of a 1024x1024 matrix `%x` and a vector `%v`.
std::string of_matrix(const std::string& body, const std::string& results) {
  return "func.func @main(%x: tensor<1024x1024xf32>, %v: tensor<1024xf32>) -> (" + results +
         ") {\n%z = stablehlo.constant dense<0.0> : tensor<f32>\n" + body + "}";
}

std::string sum_along(int axis) {
  return of_matrix(
      fmt::format("%s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = "
                  "[{}] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>\n"
                  "return %s : tensor<1024xf32>\n",
                  axis),
      "tensor<1024xf32>");
}

const std::string kBias =
    "%b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<1024xf32>) -> "
    "tensor<1024x1024xf32>\n";
const std::string kProduct =
    "%p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, "
    "tensor<1024x1024xf32>) -> tensor<1024x1024xf32>\n";

TEST_F(AssignLayouts, ElementwiseOpsAndReshapesLieAlike) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%a: tensor<40x30xf32>, %b: tensor<1200xf32>) -> tensor<1200xf32> {\n"
      "%0 = stablehlo.reshape %a : (tensor<40x30xf32>) -> tensor<1200xf32>\n"
      "%1 = stablehlo.add %0, %b : tensor<1200xf32>\n"
      "return %1 : tensor<1200xf32>\n}");
  EXPECT_EQ(assigned.of(argument(0)), assigned.of(argument(1)));
  EXPECT_EQ(assigned.of(argument(0)), assigned.of(result(0)));
  EXPECT_TRUE(lies_in_rows(*assigned.of(result(0)), 30));
}

TEST_F(AssignLayouts, TensorsThatOnlyAScalarConnectsHaveTilesOfTheirOwn) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>, %s: tensor<f32>) -> "
      "(tensor<64xf32>, tensor<64xf32>) {\n"
      "%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>\n"
      "%1 = stablehlo.multiply %a, %0 : tensor<64xf32>\n"
      "%2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>\n"
      "%3 = stablehlo.multiply %b, %2 : tensor<64xf32>\n"
      "return %1, %3 : tensor<64xf32>, tensor<64xf32>\n}");
  for (const Interval& interval : assigned.of(result(0))->intervals()) {
    EXPECT_EQ(assigned.of(result(1))->on(interval.tiles[0]), nullptr);
    EXPECT_EQ(assigned.of(argument(2))->on(interval.tiles[0]), nullptr);
  }
}

TEST_F(AssignLayouts, ScalarsOfWhichOneEndsBeforeTheOtherBeginsShareATile) {
  const std::string scalar = "tensor<f32>", vector = "tensor<1024xf32>";
  std::string body, x = "%v";
  for (const char* name : {"s", "t"}) {
    body += fmt::format(
        "%{0} = stablehlo.reduce({1} init: %z) applies stablehlo.add across dimensions = [0] : "
        "({3}, {2}) -> {2}\n"
        "%{0}b = stablehlo.broadcast_in_dim %{0}, dims = [] : ({2}) -> {3}\n"
        "%{0}y = stablehlo.divide {1}, %{0}b : {3}\n",
        name, x, scalar, vector);
    x = fmt::format("%{}y", name);
  }
  body += fmt::format("return %s, %t, %ty : {0}, {0}, {1}\n", scalar, vector);
  const AssignedLayouts layouts =
      assign(of_matrix(body, fmt::format("{0}, {0}, {1}", scalar, vector)));
  EXPECT_EQ(layouts.of(result(0)), layouts.of(result(1)));
}

TEST_F(AssignLayouts, ReductionsAndBroadcastsKeepRowsWhole) {
  EXPECT_TRUE(lies_in_rows(*assign(sum_along(1)).of(argument(0)), kRow));
  const std::string bias = kBias +
                           "%r = stablehlo.add %x, %b : tensor<1024x1024xf32>\n"
                           "return %r : tensor<1024x1024xf32>\n";
  EXPECT_TRUE(
      lies_in_rows(*assign(of_matrix(bias, "tensor<1024x1024xf32>")).of(argument(0)), kRow));
}

TEST_F(AssignLayouts, OpsThatCopyAllElementsInOrderLieLikeTheirOperands) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%a: tensor<40x30xf32>) -> (tensor<40x1x30xf32>, tensor<30x40xf32>) {\n"
      "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<40x30xf32>) -> "
      "tensor<40x1x30xf32>\n"
      "%1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<40x30xf32>) -> tensor<30x40xf32>\n"
      "return %0, %1 : tensor<40x1x30xf32>, tensor<30x40xf32>\n}");
  EXPECT_EQ(assigned.of(argument(0)), assigned.of(result(0)));
  EXPECT_NE(assigned.of(argument(0)), assigned.of(result(1)));
}

TEST_F(AssignLayouts, ReductionsOfColumnsAskForNoRows) {
  EXPECT_FALSE(lies_in_rows(*assign(sum_along(0)).of(argument(0)), kRow));
}

TEST_F(AssignLayouts, ProductsOutvoteABroadcast) {
  const std::string layer = kProduct + kBias +
                            "%r = stablehlo.add %p, %b : tensor<1024x1024xf32>\n"
                            "return %r : tensor<1024x1024xf32>\n";
  const AssignedLayouts assigned = assign(of_matrix(layer, "tensor<1024x1024xf32>"));
  EXPECT_FALSE(lies_in_rows(*assigned.of(result(0)), kRow));
  EXPECT_FALSE(lies_in_rows(*assigned.of(argument(0)), kRow));
}

TEST_F(AssignLayouts, RowsOfSeveralDimensionsStayWhole) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%x: tensor<1024x32x32xf32>) -> tensor<1024xf32> {\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1, 2] : "
      "(tensor<1024x32x32xf32>, tensor<f32>) -> tensor<1024xf32>\n"
      "return %s : tensor<1024xf32>\n}");
  EXPECT_TRUE(lies_in_rows(*assigned.of(argument(0)), kRow));
}

TEST_F(AssignLayouts, ResultsLieWhereTheArgumentsLieWhoseStorageTheyTake) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%a: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<8x8xf32>) -> "
      "(tensor<8x8xf32>, tensor<8x8xf32>) {\n"
      "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "%1 = stablehlo.negate %b : tensor<8x8xf32>\n"
      "return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>\n}");
  EXPECT_EQ(assigned.of(result(0)), assigned.of(argument(0)));
  EXPECT_TRUE(assigned.is_fixed(result(0)));
  EXPECT_FALSE(assigned.is_fixed(result(1)));
}

TEST_F(AssignLayouts, WhatStaysFromCallToCallLiesOnMoreTilesThanWhatTheHostMoves) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%a: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<64xf32>) -> "
      "(tensor<64xf32>, tensor<64xf32>) {\n"
      "%z = stablehlo.constant dense<1.0> : tensor<64xf32>\n"
      "%0 = stablehlo.add %a, %z : tensor<64xf32>\n"
      "%1 = stablehlo.negate %b : tensor<64xf32>\n"
      "return %0, %1 : tensor<64xf32>, tensor<64xf32>\n}");
  EXPECT_EQ(assigned.of(argument(0))->intervals().size(), 8U);
  EXPECT_EQ(assigned.of(argument(1))->intervals().size(), 4U);
}

TEST_F(AssignLayouts, RowsThatTheHostWouldLeaveWholeStayWhole) {
  const AssignedLayouts assigned = assign(
      "func.func @main(%a: tensor<32x10xf32> {tf.aliasing_output = 0 : i32}) -> "
      "tensor<32x10xf32> {\n"
      "%0 = stablehlo.negate %a : tensor<32x10xf32>\n"
      "return %0 : tensor<32x10xf32>\n}");
  EXPECT_EQ(assigned.of(argument(0))->intervals().size(), 32U);
}

/// Compute cycles on bow of `op` applied to each of `count` arguments.
Cycles compute_cycles(int count, const std::string& type,
                      const std::function<std::string(int)>& op) {
  std::string arguments, body, results, types;
  for (int i = 0; i < count; ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    arguments += fmt::format("{}%a{}: {}", comma, i, type);
    results += fmt::format("{}%r{}", comma, i);
    types += comma + type;
    body += op(i);
  }
  const Module module =
      import_stablehlo(fmt::format("func.func @main({}) -> ({}) {{\n{}return {} : {}\n}}",
                                   arguments, types, body, results, types),
                       "test.mlir");
  std::vector<HostTensor> zeros;
  for (const ValueId argument : module.main.arguments()) {
    zeros.emplace_back(module.main.type(argument));
  }
  const RunResult run = run_image(compile(module, load_machine("bow")), zeros, {});
  EXPECT_FALSE(run.trap);
  return run.totals.compute;
}

/// A loop that replaces a row of a cache of 64 x 512 in each trip; `body` makes what `%s` is of it.
std::string cached(const std::string& body) {
  return R"(
func.func @main(%x: tensor<1x512xf32>, %c: tensor<64x512xf32>, %t: tensor<512xf32>)
    -> (tensor<64x512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:4 = stablehlo.while(%y = %x, %i = %zero, %cache = %c, %sum = %t)
      : tensor<1x512xf32>, tensor<i32>, tensor<64x512xf32>, tensor<512xf32>
  cond {
    %n = stablehlo.constant dense<64> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %d = stablehlo.dynamic_update_slice %cache, %y, %i, %o
        : (tensor<64x512xf32>, tensor<1x512xf32>, tensor<i32>, tensor<i32>) -> tensor<64x512xf32>
)" + body +
         R"(
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %y, %j, %d, %s
        : tensor<1x512xf32>, tensor<i32>, tensor<64x512xf32>, tensor<512xf32>
  }
  return %r#2, %r#3 : tensor<64x512xf32>, tensor<512xf32>
})";
}

// As keys and values of a decoder are.
TEST_F(AssignLayouts, TablesThatEachTripReadsWholeLieOnMoreTiles) {
  const std::string reads =
      "%s = stablehlo.reduce(%d init: %z) applies stablehlo.add across dimensions = [0] : "
      "(tensor<64x512xf32>, tensor<f32>) -> tensor<512xf32>";
  const std::string does_not = "%s = stablehlo.add %sum, %sum : tensor<512xf32>";
  const auto tiles = [&](const std::string& body) {
    Module module = import_stablehlo(cached(body), "test.mlir");
    module.main = expand_ops(std::move(module.main));
    return assign_layouts(module, layouts_).of(module.main.results()[0])->intervals().size();
  };
  EXPECT_EQ(tiles(does_not), 32U);
  EXPECT_EQ(tiles(reads), 128U);
}

TEST(SmallTensors, SixtyOf512ElementsRunSideBySide) {
  const Cycles cycles = compute_cycles(60, "tensor<512xf32>", [](int i) {
    return fmt::format("%r{0} = stablehlo.tanh %a{0} : tensor<512xf32>\n", i);
  });
  EXPECT_EQ(cycles.value(), 469);
}

TEST(SmallTensors, IndependentScalarsHaveATileEach) {
  const Cycles cycles = compute_cycles(200, "tensor<f32>", [](int i) {
    return fmt::format(
        "%c{0} = stablehlo.constant dense<{1}.5> : tensor<f32>\n"
        "%r{0} = stablehlo.multiply %a{0}, %c{0} : tensor<f32>\n",
        i, i % 7);
  });
  EXPECT_EQ(cycles.value(), 163);
}

}  // namespace
}  // namespace superstep
