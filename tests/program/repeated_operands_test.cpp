#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/passes.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

// As the gradient of `relu` has it under `vmap`.
TEST(RepeatedConstants, AreKeptByNobodyHoweverOftenTheyAreRepeated) {
  const Module module = import_stablehlo(R"(
func.func @main(%p: tensor<4x6x8xi1>, %x: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %row = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
  %zero = stablehlo.broadcast_in_dim %row, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<4x6x8xf32>
  %t = stablehlo.transpose %zero, dims = [0, 1, 2] : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %y = stablehlo.select %p, %x, %t : tensor<4x6x8xi1>, tensor<4x6x8xf32>
  return %y : tensor<4x6x8xf32>
})",
                                         "test.mlir");
  for (const Buffer& buffer : lower(module, load_machine("tiny4")).buffers) {
    EXPECT_NE(buffer.kind, Buffer::Kind::kConstant) << buffer.name;
  }
}

// As a position embedding is added to a batch.
TEST(RepeatedOperands, ATileReceivesNoMoreOfOneThanItReads) {
  const Module module = import_stablehlo(R"(
func.func @main(%x: tensor<16x3001xf32>, %p: tensor<3001xf32>) -> tensor<16x3001xf32> {
  %b = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<3001xf32>) -> tensor<16x3001xf32>
  %y = stablehlo.add %x, %b : tensor<16x3001xf32>
  return %y : tensor<16x3001xf32>
})",
                                         "test.mlir");
  std::uint32_t most = 0;
  for (const Buffer& buffer : lower(module, load_machine("small64")).buffers) {
    if (!buffer.name.ends_with(".spread")) continue;
    for (const Interval& interval : buffer.layout->intervals()) {
      most = std::max(most, buffer.bytes(interval));
    }
  }
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, 4U * (16 * 3001 / 64 + 4));
}

}  // namespace
}  // namespace superstep
