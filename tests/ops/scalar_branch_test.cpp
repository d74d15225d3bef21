// Regions of scalars that choose between regions: every element goes its own way.

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

void expect_result(const char* text, const HostTensor& argument, const HostTensor& expected) {
  const Module module = import_stablehlo(text, "branch.mlir");
  const std::vector<HostTensor> arguments = {argument};
  EXPECT_TRUE(close(evaluate(module.main, arguments)[0], expected, 0)) << "reference";
  for (const char* machine : {"tiny4", "bow"}) {
    EXPECT_TRUE(close(run_on(machine, module.main, arguments)[0], expected, 0)) << machine;
  }
}

TEST(ScalarBranches, InAReducerAreTheMaximum) {
  expect_result(R"(func.func @main(%x: tensor<2x5xf32>) -> tensor<2xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      stablehlo.return %a : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0 : tensor<2xf32>
})",
                numbers(kF32, {2, 5}, {0, 1, 9, 0, 3, -1, -1, -5, -2, -7}),
                numbers(kF32, {2}, {9, -1}));
}

// The function of a window is associative: the larger size, and of equal ones the larger number.
TEST(ScalarBranches, InWindowsAreTheNumberFurthestFromZero) {
  expect_result(R"(func.func @main(%x: tensor<6xi32>) -> tensor<4xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.abs %a : tensor<i32>
    %2 = stablehlo.abs %b : tensor<i32>
    %3 = stablehlo.compare EQ, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = "stablehlo.if"(%3) ({
      %5 = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }, {
      %6 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = "stablehlo.if"(%6) ({
        stablehlo.return %b : tensor<i32>
      }, {
        stablehlo.return %a : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      stablehlo.return %7 : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }) : (tensor<6xi32>, tensor<i32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
})",
                numbers(kI32, {6}, {1, -3, 3, 2, -7, 4}), numbers(kI32, {4}, {3, 3, -7, -7}));
}

// StableHLO: a number that names no branch names the last one.
TEST(ScalarBranches, OfNumbersOutOfRangeAreTheLast) {
  expect_result(R"(func.func @main(%x: tensor<5xi32>) -> tensor<5xi32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>):
    %1 = "stablehlo.case"(%a) ({
      %2 = stablehlo.constant dense<10> : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }, {
      %3 = stablehlo.add %a, %a : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }, {
      stablehlo.return %a : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<5xi32>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
})",
                numbers(kI32, {5}, {0, 1, 2, -4, 9}), numbers(kI32, {5}, {10, 2, 2, -4, 9}));
}

// The vector is used by nothing, so that scalars are left.
TEST(ScalarBranches, MayBecomeSuchWhereOpsAreRemoved) {
  expect_result(R"(func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.slice %x [1:2] : (tensor<4xf32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
  %2 = stablehlo.convert %1 : (tensor<f32>) -> tensor<i32>
  %3 = "stablehlo.case"(%2) ({
    %4 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %5 = stablehlo.add %1, %1 : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %3 : tensor<f32>
})",
                numbers(kF32, {4}, {4, 1, 9, 16}), numbers(kF32, {}, {2}));
}

}  // namespace
}  // namespace superstep
